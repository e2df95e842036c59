import { Busy, EmberError, failure, type Fault, InputError, NotFound, type Problem, ServerError, TimedOut, Unreachable } from "./errors.js";
import type { paths } from "./schema.js";

export interface TransportOptions {
  baseUrl: string;
  apiKey: string | undefined;
  /** Milliseconds to wait for each answer. */
  timeoutMs: number;
  retries: number;
  fetch: typeof globalThis.fetch;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** In place of the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
}

type Method = "get" | "post" | "put" | "patch" | "delete";
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;
type Json<Content> = Content extends { content: { "application/json": infer Body } } ? Body : never;

/** Routes that have this method. */
export type Routes<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];
/** The body of a good answer. */
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? Json<R[keyof R & (200 | 201 | 202)]> : never;
type Query<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { query?: infer Q } } ? Q : never;
type InPath<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { path: infer Named } } ? Named : undefined;
type Body<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: infer B } ? Json<NonNullable<B>> : never;

export interface Asked<P extends keyof paths, M extends Method> extends CallOptions {
  path?: InPath<P, M>;
  query?: Query<P, M>;
  body?: Body<P, M>;
  /** Asked twice, it does no more than asked once. */
  repeatable?: boolean;
  /** The idempotency key. A request that has one is repeatable. */
  key?: string | undefined;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
const PROBLEM = "urn:embermem:problem:";
/** Codes of connections that were never made, so that the request did not arrive. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Sends requests, and again where that does no harm. */
export class Transport {
  constructor(private readonly options: TransportOptions) {}

  /** Milliseconds to wait for each answer. */
  get timeoutMs(): number {
    return this.options.timeoutMs;
  }

  /** The body of a good answer. Throws EmberError, and the reason of a signal that ended the call. */
  async call<P extends Routes<M>, M extends Method>(method: M, route: P, asked: Asked<P, M>): Promise<Answer<P, M>> {
    const url = this.url(route, asked.path as object | undefined, asked.query as object | undefined);
    const headers: Record<string, string> = { Accept: "application/json" };
    if (asked.body !== undefined) headers["Content-Type"] = "application/json";
    if (asked.key !== undefined) headers["Idempotency-Key"] = header(asked.key);
    const body = asked.body === undefined ? null : JSON.stringify(asked.body);
    const repeatable = asked.repeatable === true || asked.key !== undefined;
    for (let tries = 1; ; tries++) {
      const outcome = await this.once(url, { method: method.toUpperCase(), headers, body }, asked);
      if ("good" in outcome) return outcome.good as Answer<P, M>;
      const pause = tries > this.options.retries ? undefined : pauseMs(outcome, repeatable, tries);
      if (pause === undefined) throw outcome.error;
      await sleep(pause, asked.signal);
    }
  }

  /** An open stream of server-sent events. Throws EmberError. */
  async stream(route: keyof paths, query: object, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: "text/event-stream", ...this.authorization() };
    if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
    const init: RequestInit = { headers, signal, redirect: "error" };
    let response: Response;
    try {
      response = await this.options.fetch(this.url(route, undefined, query), init);
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(error);
    }
    if (!response.ok) throw (await refusal(response)).error;
    return response;
  }

  private async once(url: string, init: RequestInit, { signal, timeoutMs = this.options.timeoutMs }: CallOptions): Promise<Outcome> {
    signal?.throwIfAborted();
    const ending = new AbortController();
    const end = () => ending.abort(signal?.reason);
    signal?.addEventListener("abort", end, { once: true });
    const timer = setTimeout(() => ending.abort(), timeoutMs);
    try {
      const headers = { ...(init.headers as Record<string, string>), ...this.authorization() };
      const response = await this.options.fetch(url, { ...init, headers, signal: ending.signal, redirect: "error" });
      if (!response.ok) return await refusal(response);
      const text = await response.text();
      try {
        return { good: JSON.parse(text) as unknown };
      } catch (error) {
        const said = `${url} answered with something other than JSON; is it an Ember server? (${text.slice(0, 100)})`;
        return { error: new ServerError(said, { status: response.status }, { cause: error }), sent: true };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (ending.signal.aborted) {
        return { error: new TimedOut(`no answer from ${url} within ${timeoutMs} ms`, {}, { cause: error }), sent: true };
      }
      return { error: unreachable(error), sent: !NOT_SENT.has(codeOf(error)) };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  private authorization(): Record<string, string> {
    return this.options.apiKey === undefined ? {} : { Authorization: `Bearer ${this.options.apiKey}` };
  }

  private url(route: string, named: object = {}, query: object = {}): string {
    const values = new Map(Object.entries(named));
    const path = route.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(values.get(name) ?? "");
      // An empty id would be the address of the list, and one of dots or with a slash that of another route.
      if (/^\.*$/.test(value) || value.includes("/")) throw new NotFound(`${name} is ${JSON.stringify(value)}, which is no id`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined || value === null) continue;
      for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
    }
    const asked = search.toString();
    return `${this.options.baseUrl}${path}${asked && "?"}${asked}`;
  }
}

type Outcome = { good: unknown } | Failed;

interface Failed {
  error: EmberError;
  /** Whether the request may have reached the service. */
  sent: boolean;
}

/** Milliseconds until the request is sent again; undefined to leave it at that. */
function pauseMs({ error, sent }: Failed, repeatable: boolean, tries: number): number | undefined {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  if (error instanceof Unreachable || error instanceof TimedOut) return repeatable || !sent ? pause : undefined;
  if (error.status === 429 || (repeatable && [502, 503, 504].includes(error.status ?? 0))) {
    const asked = error instanceof Busy ? error.retryAfterS : undefined;
    // A fault that Ember names without a time to wait stays, such as a full disk.
    if (asked === undefined) return error.kind === "" ? pause : undefined;
    return asked * 1000 <= LONGEST_PAUSE_MS ? asked * 1000 : undefined;
  }
  return undefined;
}

async function refusal(response: Response): Promise<Failed> {
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  let told: { type?: unknown; detail?: unknown; errors?: unknown } = {};
  try {
    told = Object(await response.json());
  } catch {
    // not one of Ember's answers
  }
  const type = typeof told.type === "string" && told.type.startsWith(PROBLEM) ? told.type.slice(PROBLEM.length) : "";
  const problem: Problem = {
    kind: type,
    detail: typeof told.detail === "string" ? told.detail : `the server answered with HTTP status ${response.status}`,
    status: response.status,
    errors: Array.isArray(told.errors) ? (told.errors as Fault[]) : [],
    requestId: response.headers.get("X-Request-Id") ?? undefined,
  };
  return { error: failure(problem, Number.isFinite(retryAfter) ? retryAfter : undefined), sent: true };
}

function unreachable(error: unknown): Unreachable {
  const why = error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error);
  return new Unreachable(`the server cannot be reached: ${why}`, {}, { cause: error });
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === "string" ? cause.code : "";
}

/** Resolves after a time; rejects with the signal's reason if that comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** A unique idempotency key. */
export function newKey(): string {
  if (globalThis.crypto?.randomUUID !== undefined) return globalThis.crypto.randomUUID();
  return Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 12)).join("-"); // Node 18
}

/** A key as a header may hold it. */
function header(key: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key)) return key;
  throw new InputError(`key = ${JSON.stringify(key)} cannot be sent; give letters, digits and signs of ASCII`);
}
