// Before anything is drawn: the theme that was chosen here, else the system's.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("ember-theme");
  } catch {}
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
