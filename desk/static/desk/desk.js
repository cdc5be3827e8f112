// What every page of the desk does by keyboard. Everything here has another way without a script.
(() => {
  "use strict";
  const writing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "/" && !writing(event.target)) {
      const field = document.querySelector("[data-find]");
      if (field) {
        event.preventDefault();
        field.focus();
        field.select();
      }
    }
  });
})();
