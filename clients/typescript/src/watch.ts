import { Busy, EmberError, ServerError, Unreachable } from "./errors.js";
import { sleep, type Transport } from "./transport.js";
import type { MemoryEvent } from "./types.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** The service shows every 15 s that it lives: after so long without a sign the connection is dead. */
const SILENCE_MS = 45_000;

/**
 * What is new, without end. A connection that is lost is made again, and the service goes on after the last event.
 * Ends when the signal aborts, or the loop is left. Throws EmberError for a refusal that stays.
 */
export async function* watch(
  transport: Transport,
  query: object,
  since: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<MemoryEvent, void> {
  let last = since;
  let failures = 0;
  while (!signal?.aborted) {
    const ending = new AbortController();
    const end = () => ending.abort(signal?.reason);
    signal?.addEventListener("abort", end, { once: true });
    try {
      const response = await transport.stream("/v1/events", query, last, ending.signal);
      for await (const event of events(response, () => ending.abort())) {
        failures = 0;
        if (event.id !== "") last = event.id;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof EmberError && !passes(error)) throw error;
      failures += 1;
    } finally {
      signal?.removeEventListener("abort", end);
      ending.abort();
    }
    try {
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
    } catch {
      return;
    }
  }
}

function passes(error: EmberError): boolean {
  const status = error.status ?? 0;
  return error instanceof Unreachable || error instanceof Busy || (error instanceof ServerError && status >= 502 && status <= 504);
}

/** The events of a stream (WHATWG HTML, "server-sent events"). */
async function* events(response: Response, silent: () => void): AsyncGenerator<MemoryEvent, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let timer = setTimeout(silent, SILENCE_MS);
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(silent, SILENCE_MS);
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parsed(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}

function parsed(block: string): MemoryEvent | undefined {
  const fields: Record<string, string> = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    fields[name] = name === "data" && "data" in fields ? `${fields["data"]}\n${value}` : value;
  }
  if (fields["data"] === undefined) return undefined;
  const data = JSON.parse(fields["data"]) as Record<string, unknown>;
  return { name: fields["event"] ?? "message", id: fields["id"] ?? "", data };
}
