// The inspector's own script: themes, keys, dialogs, live parts, lines over time. Everything works without it too.
(() => {
  "use strict";
  const root = document.documentElement;
  const $ = (selector, from = document) => from.querySelector(selector);
  const say = (text) => {
    const box = $("#said");
    if (box) box.textContent = text;
  };

  // ------------------------------------------------------------------------------------------------- theme

  const turn = () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("ember-theme", root.dataset.theme);
    } catch {}
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
    let chosen = null;
    try {
      chosen = localStorage.getItem("ember-theme");
    } catch {}
    if (chosen) return;
    root.dataset.theme = event.matches ? "dark" : "light";
  });

  // ---------------------------------------------------------------------------------------- the last owner

  // Pages of the server lead back to the memory that this tab showed last.
  try {
    if (root.dataset.owner) {
      sessionStorage.setItem("ember-owner", JSON.stringify([root.dataset.owner, root.dataset.ownerAt]));
    } else {
      const [name, at] = JSON.parse(sessionStorage.getItem("ember-owner")) || [];
      const link = $("#last-owner");
      if (name && link && at.startsWith("/overview?")) {
        link.href = at;
        link.textContent = `← ${name}`;
        link.setAttribute("aria-label", `Back to ${name}`);
        link.parentElement.hidden = false;
      }
    }
    $(".out")?.addEventListener("submit", () => sessionStorage.removeItem("ember-owner"));
  } catch {}

  // ------------------------------------------------------------------------------------------------ dialogs

  let opener = null;
  const open = (dialog, from) => {
    opener = from;
    dialog.showModal();
  };
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("close", () => {
      if (opener && opener.isConnected) opener.focus();
      opener = null;
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
  const preview = async (link) => {
    const dialog = $("#dialog");
    await htmx.ajax("GET", link.getAttribute("href"), { target: "#dialog-body", swap: "innerHTML" });
    if (!$("#dialog-body").children.length) return;
    open(dialog, link);
    const first = $("[data-close]", dialog);
    if (first) first.focus();
  };

  // -------------------------------------------------------------------------------------------------- clicks

  const copied = async (button, text) => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      say("Copied");
    } catch {
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (button.textContent = before), 1600);
  };
  document.addEventListener("click", (event) => {
    const at = event.target.closest("[data-dialog], [data-close], [data-copy], [data-copy-from], #theme, #help");
    if (!at) {
      const owner = $("#owner");
      if (owner && owner.open && !owner.contains(event.target)) owner.open = false;
      return;
    }
    if (at.id === "theme") return turn();
    if (at.id === "help") return open($("#shortcuts"), at);
    if (at.matches("[data-copy]")) return copied(at, at.dataset.copy);
    if (at.matches("[data-copy-from]")) return copied(at, $(at.dataset.copyFrom).textContent);
    if (at.matches("[data-close]") && at.closest("dialog")) {
      event.preventDefault();
      return at.closest("dialog").close();
    }
    if (at.matches("[data-dialog]") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      preview(at);
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });

  $("#owner")?.addEventListener("toggle", () => $("#owner").open && $("#owner-find").focus());

  // --------------------------------------------------------------------------------------------------- keys

  let went = 0;
  let before = null;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const owner = $("#owner");
    if (event.key === "Escape" && owner && owner.open) {
      owner.open = false;
      $("summary", owner).focus();
      return;
    }
    if (event.key === "Escape" && event.target.id === "find" && !event.target.value) {
      (before && before.isConnected ? before : $("#main")).focus();
      return;
    }
    if (event.target.closest("input, textarea, select, [contenteditable]") || $("dialog[open]")) return;
    if (event.key === "/") {
      event.preventDefault();
      const find = $("#find");
      if (find) {
        before = document.activeElement.matches("body") ? null : document.activeElement;
        find.focus();
        find.select();
      }
    } else if (event.key === "?") {
      event.preventDefault();
      if ($("#shortcuts")) open($("#shortcuts"), document.activeElement);
    } else if (event.key === "g") {
      went = Date.now();
      return;
    } else if (/^[a-z]$/.test(event.key) && Date.now() - went < 1500) {
      $(`.side a[data-go="${event.key}"]`)?.click();
    } else if (event.key === "t") {
      turn();
    }
    went = 0;
  });

  // --------------------------------------------------------------------------------------------------- live

  let waiting = 0;
  let seen = null;
  let stale = false;
  // Nothing moves under somebody who writes or decides; what came meanwhile is shown afterwards.
  const busy = () => $("dialog[open]") || document.activeElement.matches("#main input, #main textarea, #main select");
  const refresh = () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      stale = Boolean(busy());
      if (stale || !$("#main[data-live]")) return;
      await htmx.ajax("GET", location.pathname + location.search, { target: "#main", select: "#main", swap: "outerMorph" });
    }, 250);
  };
  const later = () => stale && refresh();
  document.addEventListener("focusout", later);
  for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", later);
  const listen = () => {
    const live = $("#live");
    const address = document.body.dataset.events;
    if (!live || !address || !window.EventSource) return;
    const state = (name, title) => {
      live.dataset.state = name;
      live.title = title;
    };
    let source = null;
    const begin = () => {
      if (source) return;
      source = new EventSource(address);
      source.addEventListener("open", () => state("on", "Follows what changes"));
      source.addEventListener("error", () => state("off", source && source.readyState === EventSource.CLOSED ? "Not connected" : "Connecting again"));
      for (const name of ["page", "change", "state"]) {
        source.addEventListener(name, (event) => {
          const before = seen;
          seen = event.lastEventId;
          const main = $("#main[data-live]");
          if (before !== null && before !== seen) document.dispatchEvent(new CustomEvent("ember:live", { detail: name }));
          if (main && before !== null && before !== seen && (name === "state" || main.dataset.live.split(" ").includes(name))) refresh();
        });
      }
    };
    const end = () => {
      if (source) source.close();
      source = null;
    };
    // A hidden tab listens to nothing: browsers allow only six connections to one server.
    document.addEventListener("visibilitychange", () => (document.hidden ? end() : begin()));
    addEventListener("pagehide", end);
    addEventListener("pageshow", begin);
    if (!document.hidden) begin();
  };

  // ---------------------------------------------------------------------------------------------------- drop

  const drop = $("#drop");
  if (drop) {
    const input = $("input", drop);
    const told = () => {
      if (input.files.length) $("#drop-name").textContent = input.files[0].name;
    };
    input.addEventListener("change", told);
    for (const name of ["dragenter", "dragover"])
      drop.addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      input.files = event.dataTransfer.files;
      told();
    });
  }

  // What was done is told once more where screen readers listen: they pass over what is there when a page comes.
  const done = $("[data-test=done] p");
  if (done) setTimeout(() => say(done.textContent), 400);

  listen();
})();
