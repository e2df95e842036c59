import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Ember, Forbidden, InputError, KeyReused, type Message, NotFound, type OwnerMemory, Unauthorized, Unchangeable } from "../src/index.js";
import { embermem, type Running, serve } from "./server.js";

let server: Running;
let ember: Ember;

before(async () => {
  server = await serve();
  ember = new Ember({ baseUrl: server.url });
});
after(() => server.stop());

async function known(user: string): Promise<OwnerMemory> {
  const memory = ember.of(user, { agent: "tutor" });
  for (const [day, text] of ["I live in Lyon.", "My sister Ana plays the cello.", "I fish for perch at dawn."].entries()) {
    await memory.add(text, "I see.", { at: new Date(Date.UTC(2026, 3, day + 1, 10)), thread: "s1" });
  }
  await memory.settle();
  return memory;
}

test("what was added is recalled, found, listed and counted", async () => {
  const alice = await known("alice");
  const context = await alice.recall("What does Ana play?", { budget: 400 });
  assert.match(context.text, /cello/);
  assert.ok(context.tokens <= 400);
  const [hit] = await alice.search("cello", { k: 1 });
  assert.equal(hit?.memory, "My sister Ana plays the cello.");
  assert.equal(hit?.created_at, "2026-04-02T10:00:00Z");
  assert.equal((await alice.pages({ thread: "s1" })).length, 3);
  assert.equal((await alice.stats()).pages, 3);
  assert.match((await alice.overview({ budget: 300 })).text, /Lyon/);
  assert.deepEqual((await ember.owners()).map((one) => one.user_id).includes("alice"), true);
});

test("messages are added in one call and in batches, and a repeated key stores nothing twice", async () => {
  const bob = ember.of("bob");
  const said: Message[] = [
    { role: "user", content: "I keep a heron.", at: new Date("2026-05-01T08:00:00Z") },
    { role: "assistant", content: "Since when?" },
  ];
  const added = await bob.addMessages(said, { metadata: { ticket: "T-7" }, key: "first" });
  assert.equal(added.results.length, 2);
  const again = await bob.addMessages(said, { metadata: { ticket: "T-7" }, key: "first" });
  assert.deepEqual(again.page_ids, added.page_ids);
  await assert.rejects(bob.addMessages("Something else.", { key: "first" }), (error: KeyReused) => error instanceof KeyReused && error.status === 409);
  const many = await bob.addMany([{ messages: "I row.", thread: "b" }, { messages: "I row.", at: "yesterday" }, { messages: "I sing." }]);
  assert.deepEqual(many.map((one) => one.status), [201, 422, 201]);
  const found = await bob.search("heron", { scope: { metadata: { ticket: "T-7" } } });
  assert.equal(found[0]?.labels?.["ticket"], "T-7");
});

test("lists are asked for in parts, as they are needed", async () => {
  const carol = ember.of("carol");
  await carol.addMany(Array.from({ length: 230 }, (_, number) => ({ messages: `Note ${number}.` })));
  const newest: string[] = [];
  for await (const page of carol.pages()) {
    newest.push(page.memory);
    if (newest.length === 2) break;
  }
  assert.deepEqual(newest, ["carol: Note 229.", "carol: Note 228."]);
  assert.equal((await carol.pages()).length, 230);
  assert.equal((await carol.pages({ limit: 7 })).length, 7);
  const oldest = await carol.items("utterance", { order: "oldest", limit: 3, after: 1 });
  assert.deepEqual(oldest.map((one) => one.memory), ["Note 1.", "Note 2.", "Note 3."]);
});

test("facts are read, corrected, explained and undone", async () => {
  const dora = await known("dora");
  const home = (await dora.facts()).find((fact) => fact.metadata.attribute === "lives_in");
  assert.ok(home);
  assert.equal(home.metadata.value, "Lyon");
  const now = await dora.correct(home.id, "lives in Paris", { value: "Paris" });
  assert.deepEqual((await dora.facts({ state: "past" })).map((fact) => fact.id), [home.id]);
  assert.equal((await dora.facts({ asOf: "2026-01-01" })).length, 0);
  const why = await dora.why(now.id);
  assert.equal(why.replaced?.[0]?.item_id, home.id);
  await dora.undo(now.metadata.change_no);
  assert.ok((await dora.facts()).some((fact) => fact.metadata.value === "Lyon"));
  const [learnt] = await dora.learn([{ text: "sings in a choir", subject: "Ana", valid_from: new Date("2026-02-01T00:00:00Z") }]);
  assert.equal((await dora.get(learnt!.id)).kind, "fact");
  assert.ok((await dora.people()).some((person) => person.name === "Ana"));
  const page = (await dora.pages({ limit: 1 }))[0]!;
  await assert.rejects(dora.update(page.id, { text: "I never said so." }), Unchangeable);
});

test("instructions, profile and documents are set and read", async () => {
  const erin = ember.of("erin");
  await erin.setProfile({ user: { name: "Erin" }, agent: { role: "tutor" } });
  assert.equal((await erin.profile()).user["name"]?.value, "Erin");
  const rule = await erin.addInstruction("Always answer in French.");
  assert.deepEqual((await erin.instructions()).map((one) => one.id), [rule.id]);
  await erin.retire(rule.id);
  assert.deepEqual(await erin.instructions(), []);
  const lease = await erin.addDocument("# Lease\n\nThe rent is 900.", { source: "lease.md" });
  const manual = await erin.addDocument(new TextEncoder().encode("# Manual\n\nPress the button — twice."), { source: "manual.md" });
  assert.deepEqual((await erin.documents()).map((one) => one.title), ["Lease", "Manual"]);
  assert.match((await erin.document(manual.id)).passages[0]!.memory, /button — twice/);
  await erin.addDocument("Wine list", { source: "wine", original: { cellar: [1, 2] } });
  assert.deepEqual((await erin.originals()).map((one) => one.original), [{ cellar: [1, 2] }]);
  await erin.forget({ matching: "wine" });
  await erin.delete(lease.id);
  assert.equal((await erin.documents()).length, 1);
});

test("forgetting shows what would go, and gives a receipt that can be verified", async () => {
  const frank = await known("frank");
  const would = await frank.forget({ matching: "perch" }, { dryRun: true });
  assert.equal(would.dry_run, true);
  assert.equal(would.pages.length, 1);
  assert.equal((await frank.pages()).length, 3);
  const gone = await frank.forget({ page: would.pages[0]! });
  assert.equal((await frank.verify(gone)).ok, true);
  await assert.rejects(frank.get(would.pages[0]!), NotFound);
  await frank.forget({ thread: "s1" });
  assert.equal((await frank.pages()).length, 0);
  await frank.add("One more.");
  await frank.forgetOwner();
  assert.equal((await frank.stats()).pages, 0);
  await assert.rejects(frank.forget({} as never), InputError);
  await assert.rejects(frank.forget({ page: "f1-000" }), InputError);
});

test("an invalid request says what was wrong, and where", async () => {
  for (const [query, response] of [["", null], [" ", ""]] as const) await assert.rejects(ember.of("gil").add(query, response), /are empty/);
  const error = await ember.of("gil").search("x", { k: 0 }).catch((one: unknown) => one);
  assert.ok(error instanceof InputError);
  assert.equal(error.kind, "input-error");
  assert.equal(error.status, 422);
  assert.deepEqual(error.errors.map((one) => one.where), ["body.top_k"]);
  assert.match(error.requestId ?? "", /.+/);
  for (const id of ["", "..", "../owners", "a/b"]) await assert.rejects(ember.of("gil").get(id), NotFound);
  assert.throws(() => new Ember({ baseUrl: "ftp://elsewhere" }), InputError);
});

test("a watcher is told of what comes in, and goes on after its last event", { timeout: 30_000 }, async () => {
  const hal = ember.of("hal");
  const seen: string[] = [];
  let last = "";
  for await (const event of hal.watch()) {
    seen.push(event.name);
    last = event.id;
    if (event.name === "state") await hal.add("I saw a heron.");
    if (event.name === "page") break;
  }
  assert.deepEqual(seen, ["state", "page"]);
  await hal.add("And a kingfisher.");
  for await (const event of hal.watch({ since: last })) if (event.name === "page") break;
  const ending = new AbortController();
  for await (const event of hal.watch({ signal: ending.signal })) {
    assert.equal(event.name, "state");
    ending.abort();
  }
});

test("changes are waited for", { timeout: 30_000 }, async () => {
  const ivy = ember.of("ivy");
  assert.deepEqual(await ivy.changes(), []);
  const waiting = ivy.changes({ waitS: 20 }).then((found) => found.length);
  await ivy.addInstruction("Always answer in French.");
  assert.ok((await waiting) > 0);
});

test("spaces are granted, read beside a user's own memory, and revoked", async () => {
  const crew = ember.of("jo", { space: "crew" });
  await ember.grant("crew", { user: "jo", write: true });
  await crew.add("The gate code is 4411.");
  const jo = ember.of("jo", { shares: ["crew"] });
  assert.match((await jo.recall("What is the gate code?")).text, /4411/);
  assert.deepEqual(await ember.spaces(), ["crew"]);
  assert.equal((await ember.grants("crew")).length, 1);
  await ember.revoke("crew", { user: "jo" });
  await assert.rejects(jo.recall("What is the gate code?"), (error: Forbidden) => error instanceof Forbidden && error.kind === "not-granted");
});

test("a key reaches its owner only", async () => {
  const guarded = await serve("--require-keys").catch((error: unknown) => error);
  assert.ok(guarded instanceof Error, "a server without keys does not start where they are required");
  const said = await embermem(server.store, "keys", "add", "test", "--owner", "kim/default");
  const apiKey = /ember_[\w-]+/.exec(said)?.[0];
  assert.ok(apiKey);
  await new Ember({ baseUrl: server.url, apiKey }).of("kim").add("I paint.");
  await assert.rejects(new Ember({ baseUrl: server.url, apiKey }).of("lou").stats(), Forbidden);
  await assert.rejects(new Ember({ baseUrl: server.url, apiKey: "ember_wrong" }).of("kim").stats(), Unauthorized);
});
