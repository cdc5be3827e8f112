// The review desk by keyboard. Each key does what a link or a button of the page does, and nothing where there is none.
(() => {
  "use strict";
  const FIELDS = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])";
  const DECISIONS = { a: "create", r: "mark-resolved", s: "skip", d: "dismiss", e: "deep-research" };
  let sent = false; // until the answer is there, a second press would be about an item that nobody has seen

  const one = (selector, within = document) => within.querySelector(selector);
  const rows = () => [...document.querySelectorAll("#result_list tr.data-row")];
  const titleOf = (row) => one("a[href*='/change/']", row);
  const focusedRow = () => document.activeElement?.closest?.("#result_list tr.data-row") ?? null;

  const press = (element) => {
    if (!element) return false;
    element.click();
    return true;
  };

  const move = (step, link) => {
    const all = rows();
    if (!all.length) return press(one(link));
    const at = all.indexOf(focusedRow());
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
    titleOf(next)?.focus();
    return true;
  };

  const tick = () => {
    const row = focusedRow();
    return row ? press(one("input.action-select", row)) : false;
  };

  // The items that are ticked: the same question as by the list's own menu.
  const askAboutTicked = (form, choice) => {
    choice.selected = true;
    form.requestSubmit(one("button[name=index]", form));
    return true;
  };

  // The focused line: the same POST as by the button on the item's own page.
  const decideRow = (form, row, action) => {
    const address = new URL(titleOf(row).href);
    const fields = {
      csrfmiddlewaretoken: one("input[name=csrfmiddlewaretoken]", form).value,
      _changelist_filters: address.searchParams.get("_changelist_filters") ?? "",
      action,
    };
    const post = document.createElement("form");
    post.method = "post";
    post.action = address.pathname.replace(/change\/$/, "decide/");
    for (const [name, value] of Object.entries(fields)) {
      post.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(post);
    post.submit();
    return true;
  };

  // On an item: a key whose button is not there says so, so that nobody takes it for pressed.
  const decideHere = (form, action) => {
    if (press(one(`button[name=action][value="${action}"]`, form))) return true;
    document.getElementById("review-said").textContent = `“${action}” does not fit this item.`;
    return false;
  };

  const decide = (action) => {
    const own = one(".review-decide");
    if (own) return decideHere(own, action);
    const form = document.getElementById("changelist-form");
    const choice = form && one(`select[name=action] option[value="${action}"]`, form);
    if (!choice) return false;
    if (one("input.action-select:checked", form)) return askAboutTicked(form, choice);
    const row = focusedRow();
    return row && titleOf(row) ? decideRow(form, row, action) : false;
  };

  const search = () => {
    const field = document.getElementById("searchbar");
    if (!field) return press(one("[data-review-search]"));
    field.focus();
    field.select();
    return true;
  };

  const help = () => {
    const keys = document.getElementById("review-keys");
    if (!keys) return false;
    keys.open = !keys.open;
    one("summary", keys).focus();
    return true;
  };

  const keys = {
    j: () => move(1, "[data-review-next]"),
    k: () => move(-1, "[data-review-before]"),
    o: () => {
      const row = focusedRow();
      return press(row ? titleOf(row) : one("[data-review-page]"));
    },
    x: tick,
    "/": search,
    "?": help,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (event.target.closest?.(FIELDS)) return;
    const action = Object.hasOwn(DECISIONS, event.key) ? DECISIONS[event.key] : "";
    if (action) {
      if (event.repeat || sent) return; // a key that is held down decides once
      sent = decide(action);
      if (sent) event.preventDefault();
    } else if (Object.hasOwn(keys, event.key) && keys[event.key]()) {
      event.preventDefault();
    }
  });
  one(".review-decide")?.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault(); // a double click decides once
    event.target.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () => {
    sent = false;
    delete one(".review-decide")?.dataset.sent;
  });
})();
