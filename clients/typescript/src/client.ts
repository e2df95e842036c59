import { OwnerMemory } from "./owner.js";
import type { components } from "./schema.js";
import { InputError } from "./errors.js";
import { listing, type Listing } from "./listing.js";
import { type CallOptions, newKey, Transport } from "./transport.js";
import type { WriteOptions } from "./types.js";

type Schemas = components["schemas"];

export interface EmberOptions {
  /** The address of the service, with a path if it is below one. Default: `http://127.0.0.1:8765`. */
  baseUrl?: string | undefined;
  /** A key of the service (`ember_…`). It is sent to `baseUrl` only: redirects are refused. */
  apiKey?: string | undefined;
  /** Milliseconds to wait for each answer. Default: 30 000. */
  timeoutMs?: number | undefined;
  /** How often a repeatable request is sent again. Default: 3. */
  retries?: number | undefined;
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface OwnerOptions {
  /** Default: `default`. */
  agent?: string | undefined;
  /** Shared spaces that a search and a context read too. */
  shares?: readonly string[] | undefined;
  /** Another agent of the user that shares what it knows of the user. */
  personFrom?: string | undefined;
  /** A shared space in place of the user's own memory. */
  space?: string | undefined;
}

/** A client of one Ember service. */
export class Ember {
  private readonly transport: Transport;

  constructor(options: EmberOptions = {}) {
    const { baseUrl = "http://127.0.0.1:8765", apiKey, timeoutMs = 30_000, retries = 3 } = options;
    if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(baseUrl)) {
      throw new InputError(`baseUrl = ${JSON.stringify(baseUrl)} is not an address; give one such as http://127.0.0.1:8765`);
    }
    // Bound, for a browser's fetch refuses to be called as the method of anything else.
    const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.transport = new Transport({ baseUrl: baseUrl.replace(/\/+$/, ""), apiKey, timeoutMs, retries, fetch });
  }

  /** The memory of one user with one agent. Sends nothing. */
  of(user: string, options: OwnerOptions = {}): OwnerMemory {
    return new OwnerMemory(this.transport, user, options);
  }

  /** The owners that the key can access. */
  owners(options: CallOptions = {}): Listing<Schemas["OwnerItem"]> {
    return listing((part) => this.transport.call("get", "/v1/owners", { ...options, query: part, repeatable: true }));
  }

  /** The fields of the application's own that the service's memory works with. */
  async fields(options: CallOptions = {}): Promise<Schemas["FieldItem"][]> {
    return (await this.transport.call("get", "/v1/fields", { ...options, repeatable: true })).results;
  }

  /** The names of the shared spaces that the key may read. */
  async spaces(options: CallOptions = {}): Promise<string[]> {
    return (await this.transport.call("get", "/v1/spaces", { ...options, repeatable: true })).results;
  }

  /** The grants of a space; with `past` also those that were revoked. */
  async grants(space: string, { past, ...options }: { past?: boolean } & CallOptions = {}): Promise<Schemas["ShareItem"][]> {
    const asked = { ...options, path: { space }, query: past === undefined ? {} : { past }, repeatable: true };
    return (await this.transport.call("get", "/v1/spaces/{space}/grants", asked)).results;
  }

  /** Let a user read a space, or write to it too. `user: null` is everybody. */
  grant(
    space: string,
    { user, agent, write = false, key = newKey(), ...options }: { user: string | null; agent?: string; write?: boolean } & WriteOptions,
  ): Promise<Schemas["ShareItem"]> {
    const body = { user_id: user, agent_id: agent ?? null, write };
    return this.transport.call("post", "/v1/spaces/{space}/grants", { ...options, path: { space }, body, key });
  }

  /** End a user's grants of a space; the grants that ended. */
  async revoke(
    space: string,
    { user, agent, key = newKey(), ...options }: { user: string | null; agent?: string } & WriteOptions,
  ): Promise<Schemas["ShareItem"][]> {
    const asked = { ...options, path: { space }, query: { user_id: user, agent_id: agent ?? null }, key };
    return (await this.transport.call("delete", "/v1/spaces/{space}/grants", asked)).results;
  }
}
