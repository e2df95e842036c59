// The timeline: zooming and moving without a new page. What is drawn is moved at once, then the server draws the span.
(() => {
  "use strict";
  const $ = (selector, from = document) => from.querySelector(selector);
  const whole = $("#timeline");
  if (!whole) return;
  const HOUR = 3_600_000;
  const SETTLE_MS = 180;
  const FIRST = Date.parse("0001-01-01T00:00:00Z");
  const LAST = Date.parse("9999-12-31T23:59:59Z");
  const written = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
  document.documentElement.classList.add("scripted");

  // ------------------------------------------------------------------------------------------------- another span

  let asked = 0;
  let settling = 0;
  const show = async (address, push = true) => {
    clearTimeout(settling);
    const own = ++asked;
    const focused = document.activeElement;
    const keep = focused && focused.classList.contains("time") ? ".time" : focused && focused.dataset.test && focused.closest("#timeline") ? `[data-test="${focused.dataset.test}"]` : null;
    $(".time")?.classList.add("waiting");
    const answer = await fetch(address, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
    if (own !== asked) return;
    const found = answer && answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#timeline");
    if (own !== asked) return;
    if (!found) {
      location.assign(address);
      return;
    }
    const now = $("#timeline");
    for (const one of now.querySelectorAll("details[data-test]")) {
      const same = found.querySelector(`details[data-test="${one.dataset.test}"]`);
      if (same) same.open = one.open;
    }
    now.replaceWith(found);
    shift = { by: 0, scale: 1 };
    if (push) history.pushState({ timeline: true }, "", address);
    if (keep) $(keep, found)?.focus({ preventScroll: true });
    const said = $("#said");
    if (said) said.textContent = `${$(".span-words", found).textContent}: ${$(".sum", found).textContent}`;
  };
  addEventListener("popstate", () => show(location.pathname + location.search, false));

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#timeline a");
    if (!link) return;
    if (dragged) {
      event.preventDefault();
      return;
    }
    if (!link.matches("[data-span]") || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(link.getAttribute("href"));
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("#timeline form[data-span]")) return;
    event.preventDefault();
    const told = [...new FormData(form)].filter(([, value]) => value !== "");
    show(`${form.getAttribute("action")}?${new URLSearchParams(told)}`);
  });

  // ---------------------------------------------------------------------------------------------- by hand, at once

  // How what is drawn differs from what is asked for: moved by so many parts of the width, and scaled about its left.
  let shift = { by: 0, scale: 1 };
  const span = () => ({ from: Date.parse($("#timeline").dataset.from), to: Date.parse($("#timeline").dataset.to) });
  const preview = () => {
    for (const one of document.querySelectorAll(".tl-moves")) {
      const width = one.ownerSVGElement.viewBox.baseVal.width;
      one.setAttribute("transform", `translate(${shift.by * width} 0) scale(${shift.scale} 1)`);
      one.classList.toggle("moving", shift.scale !== 1);
    }
  };
  const settle = () => {
    const { from, to } = span();
    const length = Math.max(HOUR, (to - from) / shift.scale);
    let start = from - (shift.by / shift.scale) * (to - from);
    start = Math.min(Math.max(start, FIRST), LAST - length);
    const address = new URL($("#timeline").dataset.all, location.href);
    address.searchParams.set("from", written(start));
    address.searchParams.set("to", written(Math.min(start + length, LAST)));
    show(address.pathname + address.search);
  };
  const soon = () => {
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLE_MS);
  };
  const zoom = (factor, at) => {
    const { from, to } = span();
    const scale = Math.min(shift.scale * factor, (to - from) / HOUR);
    const real = scale / shift.scale;
    shift = { scale, by: at - (at - shift.by) * real };
    preview();
    soon();
  };
  const move = (by) => {
    shift = { ...shift, by: shift.by + by };
    preview();
    soon();
  };
  const part = (drawing, x) => {
    const box = drawing.getBoundingClientRect();
    return (x - box.left) / box.width;
  };

  document.addEventListener(
    "wheel",
    (event) => {
      const drawing = event.target.closest(".time");
      if (!drawing) return;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        move(-(event.deltaX || event.deltaY) / drawing.clientWidth);
      } else if (event.ctrlKey || event.metaKey || drawing.contains(document.activeElement)) {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY * (event.ctrlKey && Math.abs(event.deltaY) < 30 ? 0.01 : 0.002)), part(drawing, event.clientX));
      }
    },
    { passive: false },
  );

  const fingers = new Map();
  let dragged = false;
  let far = 0;
  const apart = () => {
    const [one, other] = [...fingers.values()];
    return { wide: Math.max(20, Math.abs(one.x - other.x)), middle: (one.x + other.x) / 2 };
  };
  document.addEventListener("pointerdown", (event) => {
    const drawing = event.target.closest(".time");
    if (!drawing || event.button) return;
    if (!fingers.size) {
      dragged = false;
      far = 0;
    }
    fingers.set(event.pointerId, { x: event.clientX, drawing });
  });
  document.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const drawing = $(".time");
    const was = fingers.size === 2 && apart();
    fingers.set(event.pointerId, { ...before, x: event.clientX });
    far += Math.abs(event.clientX - before.x);
    if (far < 5) return;
    dragged = true;
    drawing.classList.add("dragging");
    if (was) {
      const is = apart();
      zoom(is.wide / was.wide, part(drawing, is.middle));
      move((is.middle - was.middle) / drawing.clientWidth);
    } else if (fingers.size === 1) move((event.clientX - before.x) / drawing.clientWidth);
  });
  const released = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (!fingers.size) {
      $(".time")?.classList.remove("dragging");
      setTimeout(() => (dragged = false), 0);
    }
  };
  document.addEventListener("pointerup", released);
  document.addEventListener("pointercancel", released);
  document.addEventListener("dragstart", (event) => event.target.closest(".time") && event.preventDefault());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.closest(".time")) return;
    if (event.key === "+" || event.key === "=") zoom(1.6, 0.5);
    else if (event.key === "-") zoom(1 / 1.6, 0.5);
    else if (event.key === "ArrowLeft") move(0.2);
    else if (event.key === "ArrowRight") move(-0.2);
    else if (event.key === "0") show($("#timeline").dataset.all);
    else return;
    event.preventDefault();
  });
})();
