/** One thing that was wrong with a request. */
export interface Fault {
  /** Where it was, such as `body.messages.0.role`. */
  where: string;
  /** What was wrong there. */
  what: string;
}

/** What the service says of a failed request (RFC 9457). */
export interface Problem {
  /** The name of the error, such as `input-error`; empty if the answer is not one of Ember's. */
  kind: string;
  detail: string;
  status?: number | undefined;
  errors?: Fault[] | undefined;
  requestId?: string | undefined;
}

/**
 * The base class of all errors of this client.
 *
 * ```text
 * EmberError
 * ├── InputError       the request is invalid; `errors` says what and where (400, 409, 413, 422)
 * │   ├── KeyReused    an idempotency key was used again with other content (409)
 * │   └── Unchangeable an item that cannot be changed or forgotten in this way (409)
 * ├── NotFound         this memory has no such item (404)
 * ├── Unauthorized     the key is missing or wrong (401)
 * ├── Forbidden        the key, or a grant, does not allow it (403)
 * ├── Busy             the service asks to wait; `retryAfterS` is the time, if it was given (429, 503)
 * ├── Unreachable      no connection, or it was lost
 * ├── TimedOut         no answer within `timeoutMs`
 * └── ServerError      any other failure, or an unreadable answer
 * ```
 *
 * A call that its caller's `AbortSignal` ends rejects with the signal's reason, which is not an EmberError.
 */
export class EmberError extends Error {
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The name of the error in `embermem.errors`, such as `not-found`; empty if the service named none. */
  readonly kind: string;
  /** What was wrong, and where. */
  readonly errors: readonly Fault[];
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(message: string, problem: Partial<Problem> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.status = problem.status;
    this.kind = problem.kind ?? "";
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId;
  }
}

export class InputError extends EmberError {}
export class KeyReused extends InputError {}
export class Unchangeable extends InputError {}
export class NotFound extends EmberError {}
export class Unauthorized extends EmberError {}
export class Forbidden extends EmberError {}
export class Unreachable extends EmberError {}
export class TimedOut extends EmberError {}
export class ServerError extends EmberError {}

export class Busy extends EmberError {
  /** Seconds after which the service may be asked again, if it said so. */
  readonly retryAfterS: number | undefined;

  constructor(message: string, problem: Partial<Problem> = {}, retryAfterS?: number) {
    super(message, problem);
    this.retryAfterS = retryAfterS;
  }
}

/** The error that a problem tells of. */
export function failure(problem: Problem, retryAfterS?: number): EmberError {
  const { kind, detail, status } = problem;
  if (kind === "key-reused") return new KeyReused(detail, problem);
  if (kind === "conflict") return new Unchangeable(detail, problem);
  if (status === 401) return new Unauthorized(detail, problem);
  if (status === 403) return new Forbidden(detail, problem);
  if (status === 404) return new NotFound(detail, problem);
  const waits = status === 503 && (kind === "" || retryAfterS !== undefined);
  if (status === 429 || waits) return new Busy(detail, problem, retryAfterS);
  if (status !== undefined && [400, 409, 413, 422].includes(status)) return new InputError(detail, problem);
  return new ServerError(detail, problem);
}
