// A line of the context and what made it are marked together. Without scripts, links lead from the one to the other.
(() => {
  "use strict";
  const light = (at, on) => {
    const part = at && at.closest && at.closest("[data-mark]");
    if (!part) return;
    const within = part.closest(".column") || document.getElementById("result");
    for (const one of within.querySelectorAll(`[data-mark="${CSS.escape(part.dataset.mark)}"]`)) one.classList.toggle("lit", on);
  };
  for (const [name, on] of [["mouseover", true], ["focusin", true], ["mouseout", false], ["focusout", false]])
    document.addEventListener(name, (event) => light(event.target, on));
})();
