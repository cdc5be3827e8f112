// What every page of the desk does by keyboard. Everything here has another way without a script.
(() => {
  "use strict";
  const writing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
  const hits = () => [...document.querySelectorAll("[data-hits] .hit")];
  const field = () => document.querySelector("[data-find]");

  const go = (step) => {
    const all = hits();
    if (!all.length) return false;
    const at = all.findIndex((hit) => hit.contains(document.activeElement));
    const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
    for (const hit of all) hit.classList.toggle("here", hit === next);
    next.querySelector("a").focus();
    return true;
  };

  const toField = () => {
    const found = field();
    if (!found) return false;
    found.focus();
    found.select();
    return true;
  };

  const open = (address) => {
    if (!address) return false;
    location.assign(address);
    return true;
  };

  const toLinks = () => {
    const section = document.getElementById("links-here");
    if (!section) return false;
    section.scrollIntoView();
    section.focus();
    return true;
  };

  const keys = {
    "/": toField,
    j: () => go(1),
    k: () => go(-1),
    o: () => open(document.activeElement.closest?.(".hit")?.querySelector("a").href),
    h: () => open(document.body.dataset.history),
    b: toLinks,
    Escape: () => (document.activeElement.closest?.(".hit") ? toField() : false),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (writing(event.target)) {
      if (event.key === "ArrowDown" && event.target === field() && go(1)) event.preventDefault();
      return;
    }
    if (keys[event.key]?.()) event.preventDefault();
  });
})();
