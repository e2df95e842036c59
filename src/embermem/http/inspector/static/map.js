// The map: zoom and move by wheel, hand, fingers and keys; names that have room; lines of what is looked at; filters.
(() => {
  "use strict";
  const $ = (selector, from = document) => from.querySelector(selector);
  const ZOOMS = [0.34, 0.6, 1, 2, 4, 8];
  const CLOSEST = 10;
  let view = null;
  let whole = null;
  const map = () => $("svg.map");
  document.documentElement.classList.add("scripted");

  // -------------------------------------------------------------------------------------------------------- view

  const show = () => {
    const svg = map();
    if (!svg) return;
    view.w = Math.min(whole.w, Math.max(whole.w / CLOSEST, view.w));
    const h = (view.w / whole.w) * whole.h;
    view.x = Math.min(Math.max(0, view.x), whole.w - view.w);
    view.y = Math.min(Math.max(0, view.y), whole.h - h);
    svg.setAttribute("viewBox", `${view.x.toFixed(2)} ${view.y.toFixed(2)} ${view.w.toFixed(2)} ${h.toFixed(2)}`);
    const pixels = scale();
    svg.style.setProperty("--grown", Math.sqrt(1 / pixels).toFixed(4));
    svg.dataset.level = Math.max(0, ZOOMS.findLastIndex((one) => pixels >= one * 0.97));
    svg.parentElement.classList.toggle("zoomed", view.w < whole.w - 1);
  };
  // Pixels for one unit of the map.
  const scale = () => {
    const box = map().getBoundingClientRect();
    return Math.min(box.width / view.w, box.height / ((view.w / whole.w) * whole.h)) || 1;
  };
  const place = (x, y) => {
    const box = map().getBoundingClientRect();
    const pixels = scale();
    const h = (view.w / whole.w) * whole.h;
    return { x: view.x + (x - box.left - (box.width - view.w * pixels) / 2) / pixels, y: view.y + (y - box.top - (box.height - h * pixels) / 2) / pixels };
  };
  const zoom = (factor, at) => {
    const wide = Math.min(whole.w, Math.max(whole.w / CLOSEST, view.w / factor));
    const real = wide / view.w;
    view = { w: wide, x: at.x - (at.x - view.x) * real, y: at.y - (at.y - view.y) * real };
    show();
  };
  const middle = () => ({ x: view.x + view.w / 2, y: view.y + ((view.w / whole.w) * whole.h) / 2 });
  const move = (x, y) => {
    view = { ...view, x: view.x + x, y: view.y + y };
    show();
  };
  const begin = () => {
    const svg = map();
    if (!svg) return;
    const box = svg.viewBox.baseVal;
    whole = { w: box.width, h: box.height };
    view = view || { x: 0, y: 0, w: whole.w };
    show();
  };

  // ---------------------------------------------------------------------------------------- another part of a page

  let asked = 0;
  const fetched = async (address, keep) => {
    const own = ++asked;
    const answer = await fetch(address, { credentials: "same-origin" }).catch(() => null);
    const found = answer && answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#map, #main .nothing");
    if (own !== asked) return;
    if (!found) {
      location.assign(address);
      return;
    }
    const focused = document.activeElement;
    const name = focused && focused.closest(".map-form") ? focused.name : null;
    const at = name === "q" ? focused.selectionStart : null;
    const table = $("[data-test=map-table]");
    const same = found.querySelector("[data-test=map-table]");
    if (table && same) same.open = table.open;
    const typed = name === "q" ? focused.value : null;
    $("#map").replaceWith(found);
    if (!keep) view = null;
    begin();
    if (name) {
      const field = $(`.map-form [name="${name}"]`);
      field.focus({ preventScroll: true });
      if (at !== null) {
        field.value = typed;
        field.setSelectionRange(at, at);
      }
    }
    const counted = $("[data-test=map-found]");
    const said = $("#said");
    if (said && counted) said.textContent = counted.textContent;
  };
  let typing = 0;
  const filtered = () => {
    const form = $(".map-form");
    const told = [...new FormData(form)].filter(([key, value]) => value !== "" && key !== "draw");
    const address = `${form.getAttribute("action")}?${new URLSearchParams(told)}`;
    history.replaceState(history.state, "", address);
    fetched(`${address}&draw=1`, true);
  };
  document.addEventListener("input", (event) => {
    if (!event.target.closest(".map-form")) return;
    clearTimeout(typing);
    typing = setTimeout(filtered, event.target.name === "q" ? 250 : 0);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".map-form")) return;
    event.preventDefault();
    clearTimeout(typing);
    filtered();
  });

  // ------------------------------------------------------------------------------------------------ lines of a dot

  const at = (dot) => dot.transform.baseVal.getItem(0).matrix;
  // From a fact to the segment in which it was said, from a segment to all that was said in it.
  const lit = (dot) => {
    const box = $(".map-lit");
    if (!box) return;
    if (!dot) return box.replaceChildren();
    const id = dot.id.slice("dot-".length);
    const others = dot.dataset.in ? [document.getElementById(`dot-${dot.dataset.in}`)] : [...document.querySelectorAll(`.dot[data-in="${CSS.escape(id)}"]`)];
    box.replaceChildren(
      ...others.filter(Boolean).map((other) => {
        const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
        const ends = { x1: at(dot).e, y1: at(dot).f, x2: at(other).e, y2: at(other).f };
        for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
        return line;
      }),
    );
  };
  document.addEventListener("pointerover", (event) => map()?.contains(event.target) && lit(event.target.closest(".dot")));
  document.addEventListener("focusin", (event) => {
    const dot = event.target.closest(".map .dot");
    if (!dot) return;
    lit(dot);
    if (!dot.matches(":focus-visible")) return;
    const { e, f } = at(dot);
    const h = (view.w / whole.w) * whole.h;
    if (e < view.x || e > view.x + view.w || f < view.y || f > view.y + h) {
      view = { ...view, x: e - view.w / 2, y: f - h / 2 };
      show();
    }
  });

  // ------------------------------------------------------------------------------------------ wheel, hand and keys

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (button) {
      const factor = Number(button.dataset.zoom);
      if (factor) zoom(factor, middle());
      else {
        view = { x: 0, y: 0, w: whole.w };
        show();
      }
    } else if (dragged && event.target.closest(".map-field")) event.preventDefault();
  });
  document.addEventListener(
    "wheel",
    (event) => {
      const field = event.target.closest(".map-field");
      if (!field || !(event.ctrlKey || event.metaKey || field.contains(document.activeElement))) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.ctrlKey && Math.abs(event.deltaY) < 30 ? 0.01 : 0.002)), place(event.clientX, event.clientY));
    },
    { passive: false },
  );
  const fingers = new Map();
  let dragged = false;
  let far = 0;
  const two = () => {
    const [one, other] = [...fingers.values()];
    return { apart: Math.max(20, Math.hypot(one.x - other.x, one.y - other.y)), x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
  };
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".map-field") || event.button) return;
    if (!fingers.size) {
      dragged = false;
      far = 0;
    }
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  document.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const was = fingers.size === 2 && two();
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    far += Math.hypot(event.clientX - before.x, event.clientY - before.y);
    if (far < 5) return;
    dragged = true;
    $(".map-field").classList.add("dragging");
    const pixels = scale();
    if (was) {
      const is = two();
      zoom(is.apart / was.apart, place(is.x, is.y));
      move((was.x - is.x) / pixels, (was.y - is.y) / pixels);
    } else if (fingers.size === 1) move((before.x - event.clientX) / pixels, (before.y - event.clientY) / pixels);
  });
  const released = (event) => {
    if (!fingers.delete(event.pointerId) || fingers.size) return;
    $(".map-field")?.classList.remove("dragging");
    setTimeout(() => (dragged = false), 0);
  };
  document.addEventListener("pointerup", released);
  document.addEventListener("pointercancel", released);
  document.addEventListener("dragstart", (event) => event.target.closest(".map-field") && event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.closest(".map-field")) return;
    const step = view.w / 6;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key === "+" || event.key === "=") zoom(1.6, middle());
    else if (event.key === "-") zoom(1 / 1.6, middle());
    else if (event.key === "0") zoom(1 / CLOSEST, middle());
    else if (moves[event.key]) move(...moves[event.key]);
    else return;
    event.preventDefault();
  });
  addEventListener("resize", () => view && show());

  const later = $("[data-drawing]");
  if (later) fetched(later.dataset.drawing, false);
  begin();
})();
