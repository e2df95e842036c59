// Chat: the reply is shown as it comes. Its text goes into text nodes only, so that it is never markup.
(() => {
  "use strict";
  const $ = (selector, from = document) => from.querySelector(selector);
  const form = $("#say");
  if (!form) return;
  const text = $("#text");
  const now = $("#now");
  const stop = $("#stop");
  const send = $("[data-send]", form);
  let running = null;

  const reload = (what, address = location.pathname + location.search) => htmx.ajax("GET", address, { target: what, select: what, swap: "outerHTML" });
  const fail = (why, stored) => {
    const box = $("#failed");
    box.hidden = !why;
    box.children[0].textContent = why;
    box.children[1].textContent = stored;
  };
  const writing = (is) => {
    now.hidden = !is;
    stop.hidden = !is;
    send.disabled = is;
    if (is) for (const one of now.querySelectorAll("[data-now]")) one.textContent = "";
  };

  // The lines of a streamed answer, each an object.
  const lines = async function* (answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const whole = (rest + value).split("\n");
      rest = whole.pop();
      for (const line of whole) if (line) yield JSON.parse(line);
    }
  };

  const told = async (line) => {
    if (line.page) {
      history.replaceState(null, "", line.at);
      text.value = "";
      reload("#beside");
    } else if (line.piece !== undefined) {
      $("[data-now=reply]").append(line.piece);
    } else if (line.failed) {
      fail(line.failed, line.stored);
      if (!line.keeps) return false;
    }
    return true;
  };

  const ask = async () => {
    const asked = text.value;
    running = new AbortController();
    fail("", "");
    writing(true);
    $("[data-now=asked]").textContent = asked;
    let ended = false;
    let stored = true;
    try {
      const answer = await fetch(form.dataset.stream, { method: "POST", body: new URLSearchParams(new FormData(form)), signal: running.signal });
      if (!answer.ok) throw new Error(answer.status === 403 || answer.status === 401 ? "The key may not write here." : `The server answered ${answer.status}.`);
      for await (const line of lines(answer)) {
        stored = (await told(line)) && stored;
        ended = ended || Boolean(line.done || line.failed);
      }
      if (!ended) fail("The connection to the server broke off.", "Your message may be stored, the reply is not.");
    } catch (error) {
      if (running.signal.aborted) fail("Stopped.", text.value ? "Your message may be stored, the reply is not." : "Your message is stored, the reply is not. What you say next in this thread joins it.");
      else fail(error instanceof TypeError ? "The server cannot be reached." : error.message, text.value ? "Nothing was stored." : "Your message is stored, the reply is not.");
    }
    running = null;
    if (stored) await reload("#talk");
    writing(false);
    if (stored) await reload("#beside");
    const said = $("#said");
    if (ended && said) said.textContent = "The reply is there.";
    text.focus();
  };

  form.addEventListener("submit", (event) => {
    if (!form.dataset.stream || (event.submitter && !event.submitter.matches("[data-send]"))) return;
    event.preventDefault();
    if (!running && text.value.trim()) ask();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !send) return;
    event.preventDefault();
    form.requestSubmit(send);
  });
  stop?.addEventListener("click", () => running?.abort());
  addEventListener("pagehide", () => running?.abort());

  // What is said in another tab, and what is learnt meanwhile; nothing moves under somebody who writes in it.
  const waiting = {};
  document.addEventListener("ember:live", (event) => {
    for (const what of event.detail === "change" ? ["#beside"] : ["#talk", "#beside"]) {
      clearTimeout(waiting[what]);
      waiting[what] = setTimeout(() => {
        const open = $(`${what} details[open]`) || $(what)?.contains(document.activeElement);
        if (!running && !open && $(what)) reload(what);
      }, 300);
    }
  });
})();
