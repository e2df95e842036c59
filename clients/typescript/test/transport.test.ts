import assert from "node:assert/strict";
import { test } from "node:test";

import { Busy, Ember, InputError, ServerError, TimedOut, Unreachable } from "../src/index.js";
import { json, scripted } from "./server.js";

const STORED = { results: [], page_ids: ["p1"], redactions: [] };

test("a lost answer is asked for again under the same key", async () => {
  const server = await scripted((_, response, number) => (number < 3 ? response.destroy() : json(response, STORED, 201)));
  try {
    assert.equal(await new Ember({ baseUrl: server.url }).of("alice").add("I row."), "p1");
    const keys = server.asked.map((one) => one.headers["idempotency-key"]);
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    assert.ok(keys[0]);
  } finally {
    await server.stop();
  }
});

test("each write has a key of its own, a dry run and a recall none", async () => {
  const server = await scripted((_, response) => json(response, STORED));
  try {
    const alice = new Ember({ baseUrl: `${server.url}/below/`, apiKey: "ember_x" }).of("alice");
    await alice.add("I row.");
    await alice.add("I row.");
    await alice.forget({ thread: "a" }, { dryRun: true });
    await alice.recall("Rowing?");
    const keys = server.asked.map((one) => one.headers["idempotency-key"]);
    assert.notEqual(keys[0], keys[1]);
    assert.deepEqual(keys.slice(2), [undefined, undefined]);
    assert.equal(server.asked[0]?.url, "/below/v1/memories");
    assert.equal(server.asked[0]?.headers.authorization, "Bearer ember_x");
    await assert.rejects(alice.add("I row.", null, { key: "naïve" }), InputError);
  } finally {
    await server.stop();
  }
});

test("a recall is not sent twice, except where the server turned it away", async () => {
  const server = await scripted((_, response, number) => {
    if (number === 1) response.writeHead(429, { "Retry-After": "0" }).end();
    else response.destroy();
  });
  try {
    await assert.rejects(new Ember({ baseUrl: server.url }).of("alice").recall("x"), Unreachable);
    assert.equal(server.asked.length, 2);
  } finally {
    await server.stop();
  }
});

test("a server that asks for more patience than thirty seconds is not kept waiting for", async () => {
  const server = await scripted((_, response) => response.writeHead(503, { "Retry-After": "600" }).end());
  try {
    const error = await new Ember({ baseUrl: server.url }).of("alice").stats().catch((one: unknown) => one);
    assert.ok(error instanceof Busy);
    assert.equal(error.retryAfterS, 600);
    assert.equal(server.asked.length, 1);
  } finally {
    await server.stop();
  }
});

test("an answer that does not come in time, or is not Ember's, is an error of its own", async () => {
  const server = await scripted((asked, response) => {
    if (asked.url.startsWith("/v1/stats")) response.writeHead(200).end("<html>");
  });
  try {
    const ember = new Ember({ baseUrl: server.url, retries: 0, timeoutMs: 100 });
    await assert.rejects(ember.of("alice").stats({ timeoutMs: 10_000 }), ServerError);
    await assert.rejects(ember.of("alice").people(), TimedOut);
    await assert.rejects(ember.of("alice").people({ timeoutMs: 20 }), /within 20 ms/);
  } finally {
    await server.stop();
  }
  await assert.rejects(new Ember({ baseUrl: server.url, retries: 0 }).of("alice").stats(), Unreachable);
});

test("a signal ends a call, and the pause before the next try, with its reason", async () => {
  const server = await scripted((_, response, number) => (number === 1 ? response.destroy() : undefined));
  try {
    const alice = new Ember({ baseUrl: server.url }).of("alice");
    await assert.rejects(alice.stats({ signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
    const ended = new Error("enough");
    await assert.rejects(alice.stats({ signal: AbortSignal.abort(ended) }), ended);
    const ending = new AbortController();
    setTimeout(() => ending.abort(ended), 50);
    await assert.rejects(alice.people({ signal: ending.signal }), ended);
  } finally {
    await server.stop();
  }
});

test("a redirect is not followed, so a key goes to no other server", async () => {
  const other = await scripted((_, response) => json(response, {}));
  const server = await scripted((_, response) => response.writeHead(307, { Location: other.url }).end());
  try {
    await assert.rejects(new Ember({ baseUrl: server.url, apiKey: "ember_x", retries: 0 }).of("alice").stats());
    assert.equal(other.asked.length, 0);
  } finally {
    await server.stop();
    await other.stop();
  }
});
