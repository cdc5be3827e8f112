// The button of a preview says how many items are ticked at this moment.
"use strict";
(() => {
  const form = document.getElementById("review-preview");
  if (!form) return;
  const button = form.querySelector("button[data-verb]");
  const count = () => {
    const ticked = form.querySelectorAll("input[type=checkbox]:checked").length;
    button.textContent = `${button.dataset.verb} ${ticked}`;
    button.disabled = ticked === 0;
  };
  form.addEventListener("change", count);
  count();
})();
