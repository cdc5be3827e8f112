// A preview and an outcome begin where the next key belongs; a preview's button says how many items are ticked.
"use strict";
(() => {
  // After a page that was left by a key a browser may leave `autofocus` alone.
  document.querySelector(".review-card [autofocus]")?.focus({ preventScroll: true });
  const form = document.getElementById("review-preview");
  if (!form) return;
  const button = form.querySelector("button[data-verb]");
  const count = () => {
    const ticked = form.querySelectorAll("input[type=checkbox]:checked").length;
    button.textContent = `${button.dataset.verb} ${ticked}`;
    button.disabled = ticked === 0;
  };
  let sent = false; // until the answer is there, a second press of the button would ask for the same once more
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => {
    sent = false;
  });
  form.addEventListener("change", count);
  count();
})();
