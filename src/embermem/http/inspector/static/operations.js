// The parts of Operations that move: asked for again every few seconds, while somebody looks.
(() => {
  "use strict";
  let asked = 0;
  setInterval(async () => {
    const part = document.querySelector("[data-every]");
    if (!part || document.hidden || document.querySelector("dialog[open]")) return;
    if (Date.now() - asked < Number(part.dataset.every)) return;
    asked = Date.now();
    await htmx.ajax("GET", part.dataset.from, { target: part, swap: "outerMorph" });
  }, 500);
})();
