import { failure, InputError } from "./errors.js";
import { listing, type Listing } from "./listing.js";
import type { components, paths } from "./schema.js";
import { type Answer, type Asked, type CallOptions, newKey, type Routes, sleep, type Transport } from "./transport.js";
import type {
  AddOptions,
  AsOf,
  AtMoment,
  BatchItem,
  Change,
  Context,
  CorrectOptions,
  DocumentInput,
  DocumentOptions,
  FactChange,
  ForgetTarget,
  Item,
  Kind,
  ListOptions,
  MemoryEvent,
  Message,
  NewFact,
  Person,
  Receipt,
  Scope,
  SearchOptions,
  Tier,
  Time,
  WriteOptions,
} from "./types.js";
import { timeText } from "./types.js";
import { watch } from "./watch.js";
import type { OwnerOptions } from "./client.js";

type Schemas = components["schemas"];
type Fact = Schemas["FactItem"];
type WorkOptions = { onProgress?: (done: number, total: number) => void } & CallOptions;
interface Named {
  user_id: string;
  agent_id: string;
  space?: string;
}

const FIRST_LOOK_MS = 50;
const LONGEST_LOOK_MS = 2000;

/** The memory of one user with one agent. Answers have the names of the HTTP API; lists come newest first. */
export class OwnerMemory {
  private readonly named: Named;
  private readonly bound: { shares: string[]; person_from?: string };

  /** Use `Ember.of`. */
  constructor(
    private readonly transport: Transport,
    readonly user: string,
    { agent = "default", shares = [], personFrom, space }: OwnerOptions = {},
  ) {
    this.named = { user_id: user, agent_id: agent, ...(space === undefined ? {} : { space }) };
    this.bound = { shares: [...shares], ...(personFrom === undefined ? {} : { person_from: personFrom }) };
  }

  // ----------------------------------------------------------------------------------------------------------- in

  /** Add an exchange; the id of its page. When it resolves, the page is on the server's disk. */
  async add(query: string | null, response?: string | null, options: AddOptions = {}): Promise<string> {
    const sides = [["user", query], ["assistant", response]] as const;
    const messages: Message[] = sides.flatMap(([role, content]) => (content?.trim() ? [{ role, content }] : []));
    if (messages.length === 0) throw new InputError("query and response are empty: there is nothing to add");
    const added = await this.addMessages(messages, { fresh: messages[0]?.role === "user", ...options });
    const page = added.page_ids.at(-1);
    if (page === undefined) throw new InputError("this message was forgotten and is not stored again");
    return page;
  }

  /** Add messages in OpenAI's format, or one text of the user, in one transaction. */
  addMessages(messages: string | readonly Message[], options: AddOptions = {}): Promise<Schemas["Added"]> {
    const { key = newKey(), signal, timeoutMs } = options;
    const body = { ...added(messages, options), run_id: options.thread ?? "main", ...this.named };
    return this.transport.call("post", "/v1/memories", { body, key, signal, timeoutMs });
  }

  /** Add up to 500 items, each by itself; what became of each, in order. Items without a key get one. */
  async addMany(
    items: readonly BatchItem[],
    { thread = "main", at, ...options }: { thread?: string; at?: Time } & CallOptions = {},
  ): Promise<Schemas["Batch"]["items"]> {
    const told = items.map(({ messages, key = newKey(), ...one }) => ({ ...added(messages, one), run_id: one.thread ?? null, key }));
    const body = { items: told, run_id: thread, at: timeText(at) ?? null, ...this.named };
    return (await this.transport.call("post", "/v1/memories/batch", { ...options, body, repeatable: true })).items;
  }

  /** Store a document, or replace what changed of the one with its `source`. The service reads its format. */
  addDocument(
    document: DocumentInput,
    options: DocumentOptions = {},
  ): Promise<Schemas["DocumentAdded"]> {
    const { title = null, source = null, at, expiresAt, metadata = null, original, ...rest } = options;
    const content = typeof document === "string" ? { text: document } : { file: base64(document) };
    const times = { at: timeText(at) ?? null, ...dated("expires_at", expiresAt) };
    return this.write("/v1/documents", { ...content, title, source, metadata, ...times, ...given({ original }) }, rest);
  }

  /** Add facts of your own, all or none. */
  async learn(facts: readonly NewFact[], options: WriteOptions = {}): Promise<Fact[]> {
    const told = facts.map(({ valid_from, expires_at, ...one }) => ({
      ...one,
      ...dated("valid_from", valid_from),
      ...dated("expires_at", expires_at),
    }));
    return (await this.write("/v1/facts", { facts: told }, options)).results;
  }

  /** Add a standing instruction of the user's; it ends an earlier one about the same matter. */
  addInstruction(text: string, { expiresAt, ...options }: { expiresAt?: Time } & WriteOptions = {}): Promise<Fact> {
    return this.write("/v1/instructions", { text, expires_at: timeText(expiresAt) ?? null }, options);
  }

  /** Set fields of the two profiles in one change; null removes one. */
  setProfile(
    profiles: { user?: Record<string, string | number | null>; agent?: Record<string, string | number | null> },
    { key = newKey(), ...options }: WriteOptions = {},
  ): Promise<Schemas["Profile"]> {
    return this.transport.call("patch", "/v1/profile", { ...options, body: { ...profiles, ...this.named }, key });
  }

  /** Analyse what is pending, now; the number of pages placed into segments. The service works, and is asked for progress. */
  async settle(options: WorkOptions = {}): Promise<number> {
    return (await this.worked("/v1/settle", options))["placed"]!;
  }

  /** Do what `settle` does, and analyse what is in mid-term memory, whatever its heat; how many pages were placed and analysed, and segments promoted. */
  async analyse(options: WorkOptions = {}): Promise<{ placed: number; analysed: number; promoted: number }> {
    const done = await this.worked("/v1/analyse", options);
    return { placed: done["placed"]!, analysed: done["analysed"]!, promoted: done["promoted"]! };
  }

  private async worked(path: "/v1/settle" | "/v1/analyse", { onProgress, ...options }: WorkOptions): Promise<Record<string, number>> {
    let operation = await this.transport.call("post", path, { ...options, body: this.named, repeatable: true });
    for (let pause = FIRST_LOOK_MS; operation.status === "running"; pause = Math.min(2 * pause, LONGEST_LOOK_MS)) {
      if (operation.total !== null) onProgress?.(operation.done, operation.total);
      await sleep(pause, options.signal);
      operation = await this.ask("/v1/operations/{item_id}", { ...options, path: { item_id: operation.id } });
    }
    if (operation.error != null) throw operationError(operation.error);
    return operation.result ?? {};
  }

  // ----------------------------------------------------------------------------------------------------- recalled

  /** Text for a prompt within `budget` tokens, with its sources; in mode `inject` nothing for a message that needs no
   * memory. Counts what it packs as visited, so it is sent once. */
  recall(query: string, options: { budget?: number; at?: Time; explain?: boolean; mode?: "ask" | "inject" } & SearchOptions = {}): Promise<Context> {
    const { budget = null, at, explain = false, mode = "ask", scope, minScore = 0, thread = null, asOf, validAt, ...rest } = options;
    const body = { query, budget, mode, run_id: thread, explain, min_score: minScore, at: timeText(at) ?? null, ...bodyMoment(asOf, validAt) };
    return this.transport.call("post", "/v1/context", { ...rest, body: { ...body, ...bodyScope(scope), ...this.bound, ...this.named } });
  }

  /** The best `k` utterances for a query. Writes nothing. */
  async search(query: string, options: { k?: number; at?: Time } & SearchOptions = {}): Promise<Schemas["UtteranceMemory"][]> {
    const { k = 10, at, scope, minScore = 0, thread = null, asOf, validAt, ...rest } = options;
    const body = { query, top_k: k, run_id: thread, min_score: minScore, at: timeText(at) ?? null, ...bodyMoment(asOf, validAt), ...bodyScope(scope) };
    const asked = { ...rest, body: { ...body, ...this.bound, ...this.named }, repeatable: true };
    return (await this.transport.call("post", "/v1/search", asked)).results;
  }

  /** Who everybody is and what happened, by time, as text within `budget` tokens. */
  overview(
    options: { budget?: number; person?: string; since?: Time; until?: Time; scope?: Scope } & AtMoment = {},
  ): Promise<Context> {
    const { budget, person, since, until, scope, ...rest } = options;
    const days = { ...dated("since", since), ...dated("until", until) };
    return this.read("/v1/overview", { ...given({ budget, person }), ...days, ...queryScope(scope), ...this.bound }, rest);
  }

  // --------------------------------------------------------------------------------------------------------- read

  /** One item by its id: a page (`p…`), utterance, fact, segment, chain or document. */
  get(id: string, { asOf, ...options }: AsOf = {}): Promise<Item> {
    return this.ask("/v1/memories/{item_id}", { ...options, path: { item_id: id }, query: { ...this.named, ...dated("as_of", asOf) } });
  }

  /** The items of one kind. */
  items(
    kind: Kind = "page",
    { limit, scope, after, order, ...options }: { after?: string | number; order?: Schemas["Order"] } & ListOptions = {},
  ): Listing<Item> {
    const query = { kind, ...given({ order, after: after?.toString() }), ...queryScope(scope) };
    return listing((part) => this.read("/v1/memories", { ...query, ...part }, options), limit);
  }

  /** Exchanges: all, of one tier, or of one thread. */
  pages(
    { limit, scope, tier, thread, ...options }: { tier?: Tier; thread?: string } & ListOptions & AtMoment = {},
  ): Listing<Schemas["PageItem"]> {
    const query = { ...given({ tier, run_id: thread }), ...queryScope(scope) };
    return listing((part) => this.read("/v1/pages", { ...query, ...part }, options), limit);
  }

  /** The segments of mid-term memory with their heat, or those of the archive. */
  segments(
    { limit, scope, archived = false, ...options }: { archived?: boolean } & ListOptions & AtMoment = {},
  ): Listing<Schemas["SegmentItem"]> {
    return listing((part) => this.read("/v1/segments", { archived, ...queryScope(scope), ...part }, options), limit);
  }

  /** One segment with its newest pages. */
  segment(id: string, options: AtMoment = {}): Promise<Schemas["SegmentWhole"]> {
    return this.read("/v1/segments/{item_id}", {}, options, { item_id: id });
  }

  /** Facts: everybody's, those about the user or the agent, or one person's; those that hold some words, or rest on this. */
  facts(
    { limit, scope, about, person, state, text, attribute, origin, ...options }: {
      about?: Schemas["About"];
      person?: string;
      state?: Schemas["FactStatus"];
      text?: string;
      attribute?: string;
      origin?: Schemas["Origin"];
    } & ListOptions & AtMoment = {},
  ): Listing<Fact> {
    const query = { ...given({ about, person, state, text, attribute, origin }), ...queryScope(scope) };
    return listing((part) => this.read("/v1/facts", { ...query, ...part }, options), limit);
  }

  /** The user's standing instructions that hold, oldest first. */
  async instructions({ scope, ...options }: { scope?: Scope } & AtMoment = {}): Promise<Fact[]> {
    return (await this.read("/v1/instructions", queryScope(scope), options)).results;
  }

  /** All documents, the first stored first. */
  async documents(options: CallOptions = {}): Promise<Schemas["Document"][]> {
    return (await this.read("/v1/documents", {}, options)).results;
  }

  /** One document with its passages. */
  document(id: string, options: CallOptions = {}): Promise<Schemas["DocumentWhole"]> {
    return this.read("/v1/documents/{item_id}", {}, options, { item_id: id });
  }

  /** What was handed in with messages (`original` of each) and documents, by id: of some, of a thread, or the `last`. */
  async originals({ ids, thread, last, ...options }: { ids?: string[]; thread?: string; last?: number } & CallOptions = {}): Promise<
    Schemas["OriginalItem"][]
  > {
    const body = { ...given({ ids, run_id: thread, last }), ...this.named };
    return (await this.transport.call("post", "/v1/originals", { ...options, body, repeatable: true })).results;
  }

  /** The profiles of the user and of the agent. */
  profile(options: AtMoment = {}): Promise<Schemas["Profile"]> {
    return this.read("/v1/profile", {}, options) as Promise<Schemas["Profile"]>;
  }

  /** The profile of one person: a name, or a kin word such as `Bob's sister`. */
  async personProfile(person: string, options: AtMoment = {}): Promise<Schemas["PersonProfile"]["person"]> {
    return ((await this.read("/v1/profile", { person }, options)) as Schemas["PersonProfile"]).person;
  }

  /** Everybody whom the memory knows. */
  async people(options: AsOf = {}): Promise<Person[]> {
    return (await this.read("/v1/people", {}, options)).results;
  }

  /** The known traits, out of 90. */
  async traits(options: AtMoment = {}): Promise<Schemas["TraitItem"][]> {
    return (await this.read("/v1/traits", {}, options)).results;
  }

  /** What an item, a trait or a profile line (`user.home`) rests on, and what it replaced. */
  why(id: string, options: CallOptions = {}): Promise<Schemas["Why"]> {
    return this.read("/v1/why/{item_id}", {}, options, { item_id: id });
  }

  /** The changes that concern an item, and what they edited. */
  history(id: string, options: CallOptions = {}): Promise<Schemas["History"]> {
    return this.read("/v1/memories/{item_id}/history", {}, options, { item_id: id });
  }

  /** What changed between two times. */
  diff(earlier: Time, later?: Time, options: CallOptions = {}): Promise<Schemas["DiffAnswer"]> {
    return this.read("/v1/diff", { earlier: timeText(earlier), ...dated("later", later) }, options);
  }

  /**
   * The log of derived memory, oldest first, after `since` (the number of a change, or a time). If there is nothing, the
   * service waits for up to `waitS` seconds (60) for some; `timeoutMs` is lengthened by as much.
   */
  changes({ since = 0, limit, waitS, ...options }: { since?: number | Time; waitS?: number } & ListOptions = {}): Listing<Change> {
    const from = typeof since === "number" ? { since } : { recorded_after: timeText(since) };
    const patient = waitS === undefined ? {} : { timeoutMs: (options.timeoutMs ?? this.transport.timeoutMs) + waitS * 1000 };
    const query = { ...from, ...given({ wait_s: waitS }) };
    return listing((part) => this.read("/v1/changes", { ...query, ...part }, { ...options, ...patient }), limit);
  }

  /** What is new, as it happens, after `since` (the id of an event). Reconnects; leave the loop or abort to end it. */
  watch({ since, signal }: { since?: string; signal?: AbortSignal } = {}): AsyncGenerator<MemoryEvent, void> {
    return watch(this.transport, this.named, since, signal);
  }

  /** Counts of this memory. */
  stats(options: CallOptions = {}): Promise<Schemas["OwnerStats"]> {
    return this.read("/v1/stats", {}, options);
  }

  // ------------------------------------------------------------------------------------- corrected and forgotten

  /** Replace a fact by `text` or with other metadata, or change a fact or page itself (`pinned`, `expiresAt`). */
  update(
    id: string,
    { text, value, pinned, expiresAt, metadata }: FactChange,
    { key = newKey(), ...options }: WriteOptions = {},
  ): Promise<Fact | Schemas["PageItem"]> {
    const ends = expiresAt === undefined ? {} : { expires_at: expiresAt === null ? null : timeText(expiresAt) };
    const body = { ...given({ text, value, pinned, metadata }), ...ends, ...this.named };
    return this.transport.call("patch", "/v1/memories/{item_id}", { ...options, path: { item_id: id }, body, key });
  }

  /** A fact was wrong: the new one, which takes its place. */
  correct(id: string, text: string, { value = null, validFrom, validTo, ...options }: CorrectOptions = {}): Promise<Fact> {
    const times = given({
      valid_from: validFrom === undefined ? undefined : timeText(validFrom),
      valid_to: validTo === undefined ? undefined : timeText(validTo),
    });
    return this.write("/v1/facts/{item_id}/correct", { text, value, ...times }, options, { item_id: id });
  }

  /** A fact (an instruction too) is true no longer. */
  retire(id: string, options: WriteOptions = {}): Promise<Fact> {
    return this.write("/v1/facts/{item_id}/retire", {}, options, { item_id: id });
  }

  /** What forgetting would remove, or (without `dryRun`) what it removed for good: a receipt for `verify`. */
  async forget(target: ForgetTarget, options: { dryRun?: boolean } & WriteOptions = {}): Promise<Receipt> {
    const named = Object.entries(target).filter(([name, value]) => value !== undefined && name !== "limit");
    const [only] = named;
    if (only === undefined || named.length > 1) {
      throw new InputError("give exactly one of page, fact, segment, thread, before, matching and scope");
    }
    const [kind, value] = only;
    if (kind === "page" || kind === "fact" || kind === "segment") {
      if (!String(value).startsWith(kind.charAt(0))) throw new InputError(`${JSON.stringify(value)} is not the id of a ${kind}`);
      return this.delete(String(value), options);
    }
    const many: Record<string, object> = {
      thread: { run_id: value },
      before: dated("before", value as Time),
      matching: { ...target },
      scope: queryScope(value as Scope),
    };
    const found = many[kind];
    if (found === undefined) throw new InputError(`${JSON.stringify(kind)} is nothing to forget by`);
    return this.gone(found, options);
  }

  /** Forget a page, fact, segment or document by its id. */
  delete(id: string, { dryRun = false, key = newKey(), ...options }: { dryRun?: boolean } & WriteOptions = {}): Promise<Receipt> {
    const query = { ...this.named, ...(dryRun ? { dry_run: true } : {}) };
    const asked = { ...options, path: { item_id: id }, query, ...(dryRun ? { repeatable: true } : { key }) };
    if (id.startsWith("d")) return this.transport.call("delete", "/v1/documents/{item_id}", asked);
    return this.transport.call("delete", "/v1/memories/{item_id}", asked);
  }

  /** Take all of this memory away, for good. It is sent without a key, and not again after a lost answer. */
  forgetOwner({ dryRun = false, ...options }: { dryRun?: boolean } & CallOptions = {}): Promise<Receipt> {
    const query = { ...this.named, ...(dryRun ? { dry_run: true } : { confirm: true }) };
    return this.transport.call("delete", "/v1/memories", { ...options, query, repeatable: dryRun });
  }

  /** Whether what a receipt says is gone is gone from the service's store. */
  verify(receipt: Receipt, options: CallOptions = {}): Promise<Schemas["Verified"]> {
    return this.transport.call("post", "/v1/verify", { ...options, body: { receipt, ...this.named }, repeatable: true });
  }

  /** Take back what a change taught the persona; the number of the change that does so. */
  async undo(changeNo: number, options: WriteOptions = {}): Promise<number> {
    return (await this.write("/v1/changes/{change_no}/undo", {}, options, { change_no: changeNo })).change_no;
  }

  // ------------------------------------------------------------------------------------------------------ helpers

  private ask<P extends Routes<"get">>(route: P, asked: Asked<P, "get">): Promise<Answer<P, "get">> {
    return this.transport.call("get", route, { ...asked, repeatable: true });
  }

  private read<P extends Routes<"get">>(
    route: P,
    query: object,
    { asOf, validAt, ...options }: AtMoment,
    path?: Asked<P, "get">["path"],
  ): Promise<Answer<P, "get">> {
    const asked = { ...options, query: { ...query, ...queryMoment(asOf, validAt), ...this.named }, ...(path && { path }) };
    return this.ask(route, asked as Asked<P, "get">);
  }

  private write<P extends Routes<"post"> & keyof paths>(
    route: P,
    fields: Omit<NonNullable<Asked<P, "post">["body"]>, keyof Named>,
    { key = newKey(), ...options }: WriteOptions,
    path?: Asked<P, "post">["path"],
  ): Promise<Answer<P, "post">> {
    const asked = { ...options, body: { ...fields, ...this.named }, key, ...(path && { path }) };
    return this.transport.call("post", route, asked as unknown as Asked<P, "post">);
  }

  private gone(query: object, { dryRun = false, key = newKey(), ...options }: { dryRun?: boolean } & WriteOptions): Promise<Receipt> {
    const whole = { ...query, ...this.named, ...(dryRun ? { dry_run: true } : { confirm: true }) };
    return this.transport.call("delete", "/v1/memories", { ...options, query: whole, ...(dryRun ? { repeatable: true } : { key }) });
  }
}

function added(messages: string | readonly Message[], { at, expiresAt, metadata, fresh }: AddOptions) {
  const told = typeof messages === "string" ? messages : messages.map((one) => ({ ...one, ...dated("at", one.at) }) as Schemas["Message"]);
  const times = { at: timeText(at) ?? null, expires_at: timeText(expiresAt) ?? null };
  return { messages: told, ...times, metadata: metadata ?? null, fresh: fresh ?? null };
}

/** Those that are not undefined. */
function given<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function dated<Name extends string>(name: Name, at: Time | undefined): { [N in Name]?: string } {
  return (at === undefined ? {} : { [name]: timeText(at) }) as { [N in Name]?: string };
}

function queryMoment(asOf: Time | undefined, validAt: Time | undefined) {
  return { ...dated("as_of", asOf), ...dated("valid_at", validAt) };
}

function bodyMoment(asOf: Time | undefined, validAt: Time | undefined) {
  return { as_of: timeText(asOf) ?? null, valid_at: timeText(validAt) ?? null };
}

function queryScope(scope: Scope | undefined) {
  return scope === undefined ? {} : { scope: JSON.stringify(scope) };
}

function bodyScope(scope: Scope | undefined) {
  return scope === undefined ? {} : { scope };
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

function operationError(problem: Record<string, unknown>) {
  const kind = String(problem["type"] ?? "").replace("urn:embermem:problem:", "");
  return failure({ kind, detail: String(problem["detail"] ?? "the work failed"), status: Number(problem["status"]) || undefined });
}
