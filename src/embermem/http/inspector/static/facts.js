// Facts: choosing several of a list. Without this script each is chosen by itself, and the bar is always there.
(() => {
  "use strict";
  const bar = document.querySelector("[data-many]");
  if (!bar) return;
  const boxes = [...document.querySelectorAll("input[name=fact][form=chosen]")];
  const count = bar.querySelector("[data-count]");
  const label = document.querySelector("[data-all]");
  const all = label.querySelector("input");
  let last = null;
  const told = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    bar.hidden = chosen === 0;
    count.textContent = chosen === 1 ? "1 fact chosen" : `${chosen} facts chosen`;
    all.checked = chosen > 0 && chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
    for (const button of bar.querySelectorAll("[data-least]")) button.disabled = chosen < Number(button.dataset.least);
    const said = document.getElementById("said");
    if (said) said.textContent = chosen ? count.textContent : "";
  };
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    told();
  });
  for (const box of boxes) {
    box.addEventListener("click", (event) => {
      // Shift chooses all from the last one on.
      if (event.shiftKey && last) {
        const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
        for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
      }
      last = box;
      told();
    });
  }
  label.hidden = boxes.length === 0;
  // What was chosen when this page was left, is when it is come back to.
  addEventListener("pageshow", told);
  told();
})();
