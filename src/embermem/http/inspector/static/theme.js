// Before anything is drawn: the theme that was chosen here, else the system's; and the browser's time zone, in a cookie.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("ember-theme");
  } catch {}
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const root = document.documentElement;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const told = () => document.cookie.split("; ").includes(`ember_zone=${encodeURIComponent(zone)}`);
  if (!zone || told()) return;
  document.cookie = `ember_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=strict`;
  // The page was made for another zone: once more, unless the browser keeps no cookie.
  if (told() && "safe" in root.dataset && root.dataset.zone !== zone) location.reload();
})();
