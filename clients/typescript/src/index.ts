export { Ember, type EmberOptions, type OwnerOptions } from "./client.js";
export * from "./errors.js";
export type { Listing } from "./listing.js";
export type {
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
export { OwnerMemory } from "./owner.js";
export type { CallOptions } from "./transport.js";
export type { components, operations, paths } from "./schema.js";
