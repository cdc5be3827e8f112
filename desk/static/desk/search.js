// Search as you type, from the list of pages too: the server draws the results, this puts them into the page. Without it
// the form does the same.
(() => {
  "use strict";
  const form = document.querySelector("[data-live]");
  const results = document.querySelector("[data-results]");
  if (!form || !results) return;
  const field = form.querySelector("input[type=search]");
  const PAUSE = 120; // ms without a key before the server is asked
  let timer = 0;
  let asked = null; // the request on its way: a newer one ends it

  // What the filters send along, so that they keep what is asked; the list of pages begins without it.
  const filtered = () => {
    const filters = document.querySelector("[data-filters]");
    let hidden = filters.querySelector("input[name=q]");
    if (!hidden) {
      hidden = Object.assign(document.createElement("input"), { type: "hidden", name: "q" });
      filters.prepend(hidden);
    }
    return hidden;
  };

  const query = () => {
    const given = new URLSearchParams(new FormData(document.querySelector("[data-filters]")));
    given.set("q", field.value.trim());
    for (const [name, value] of [...given]) if (!value) given.delete(name);
    return given;
  };

  const ask = async () => {
    const given = query();
    if (!given.get("q")) return;
    asked?.abort();
    asked = new AbortController();
    const signal = asked.signal;
    const address = `${form.dataset.live}?${given}`;
    given.set("live", "1");
    try {
      const answer = await fetch(`${form.dataset.live}?${given}`, { signal, credentials: "same-origin" });
      if (!answer.ok || answer.redirected) return;
      const html = await answer.text();
      if (signal.aborted) return;
      const parsed = new DOMParser().parseFromString(html, "text/html");
      results.replaceChildren(...parsed.body.childNodes);
      history.replaceState(null, "", address);
      document.title = `${given.get("q")} · Synapse`;
      const heading = document.querySelector("[data-heading]");
      if (heading) heading.textContent = "Search";
      filtered().value = given.get("q");
    } catch (error) {
      if (error.name !== "AbortError") form.dataset.failed = "";
    }
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  form.addEventListener("submit", () => {
    clearTimeout(timer);
    asked?.abort();
  });
})();
