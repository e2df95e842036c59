import type { components } from "./schema.js";
import type { CallOptions } from "./transport.js";

type Schemas = components["schemas"];

/** A Date, or a text in ISO 8601: a time with a zone, or a day. */
export type Time = Date | string;
export type Message = Omit<Schemas["Message"], "at"> & { at?: Time };
export type Scope = Partial<Schemas["ScopeBody"]>;
export type Tier = Schemas["Tier"];
export type Kind = Schemas["Kind"];
/** What the service returns of one memory: `kind` tells what it is. */
export type Item = Schemas["Items"]["results"][number];
export type Context = Schemas["ContextAnswer"];
export type Change = Schemas["ChangeItem"];
export type Person = Schemas["PersonItem"];
/** What was forgotten (or would be), and the receipt that `verify` takes. */
export type Receipt = Schemas["Forgotten-Output"];
/** A fact of your own. */
export type NewFact = Omit<Schemas["Brought"], "valid_from" | "expires_at"> & { valid_from?: Time; expires_at?: Time };

/** Of a call that changes something. */
export interface WriteOptions extends CallOptions {
  /** The idempotency key; one is made if you give none. Give your own if the process may end before the answer. */
  key?: string | undefined;
}

export interface AddOptions extends WriteOptions {
  /** The conversation. Default: `main`. */
  thread?: string | undefined;
  /** When it was said. Default: now. */
  at?: Time | undefined;
  /** When the pages are forgotten by themselves. */
  expiresAt?: Time | undefined;
  /** Labels of your own. */
  metadata?: Record<string, unknown> | undefined;
  /** Whether the first message of the user begins a page of its own. */
  fresh?: boolean | undefined;
}

/** One of many to be added: each is stored or refused by itself. */
export interface BatchItem extends Omit<AddOptions, keyof CallOptions> {
  messages: string | readonly Message[];
}

export interface AsOf extends CallOptions {
  /** What was known at this time. */
  asOf?: Time | undefined;
}

export interface AtMoment extends AsOf {
  /** What was true at this time, by what is known now. */
  validAt?: Time | undefined;
}

export interface SearchOptions extends AtMoment {
  scope?: Scope | undefined;
  /** Leave out what is less relevant, from 0 to 1. */
  minScore?: number | undefined;
  thread?: string | undefined;
}

export interface ListOptions extends CallOptions {
  /** At most so many. Default: all. */
  limit?: number | undefined;
  scope?: Scope | undefined;
}

/** A text, or the bytes of a file whose name is `source`. */
export type DocumentInput = string | Uint8Array;

export interface DocumentOptions extends WriteOptions {
  /** Default: its first heading. */
  title?: string | undefined;
  /** Where it is from; added again, it replaces what changed. */
  source?: string | undefined;
  at?: Time | undefined;
  expiresAt?: Time | undefined;
  metadata?: Record<string, unknown> | undefined;
  /** Any JSON value, kept beside the document and given back by `originals`. */
  original?: unknown;
}

/** What `forget` takes: exactly one. */
export type ForgetTarget =
  | { page: string }
  | { fact: string }
  | { segment: string }
  | { thread: string }
  | { before: Time }
  | { matching: string }
  | { scope: Scope };

export interface CorrectOptions extends WriteOptions {
  /** Its value, such as "Lyon". Default: the text. */
  value?: string | null | undefined;
  /** Since when it is so. Default: as the text says, else as before. */
  validFrom?: Time | undefined;
  /** Until when it was so. */
  validTo?: Time | undefined;
}

/** What `update` changes. */
export interface FactChange {
  /** The correct statement; it takes the place of the fact. */
  text?: string | undefined;
  value?: string | undefined;
  pinned?: boolean | undefined;
  /** When it ends; null: never. */
  expiresAt?: Time | null | undefined;
  metadata?: Record<string, unknown> | undefined;
}

/** What is new in a memory: ids, counts and causes, never what was said. */
export interface MemoryEvent {
  /** `page`: utterances came in; `change`: an entry of the log; `state`: where the memory stands. */
  name: "page" | "change" | "state" | (string & {});
  /** Its position: `since` of a later `watch`. */
  id: string;
  data: Record<string, unknown>;
}

/** A time as it is sent. */
export function timeText(at: Time): string;
export function timeText(at: Time | undefined): string | undefined;
export function timeText(at: Time | undefined): string | undefined {
  return at instanceof Date ? at.toISOString() : at;
}
