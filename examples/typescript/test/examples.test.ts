import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { streamText, generateText } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { Ember } from "embermem";
import OpenAI from "openai";

import { withMemory } from "../src/ai-sdk-middleware.js";
import { answer } from "../src/ai-sdk-tools.js";
import { reply } from "../src/openai-chat.js";
import { json, type Running, scripted, serve } from "../../../clients/typescript/test/server.js";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const STOP = { unified: "stop", raw: undefined } as const;
const CALLS = { unified: "tool-calls", raw: undefined } as const;

let server: Running;
let ember: Ember;

before(async () => {
  server = await serve();
  ember = new Ember({ baseUrl: server.url });
});
after(() => server.stop());

test("a model of the AI SDK searches its memory by a tool, and remembers by another", async () => {
  const alice = ember.of("alice");
  await alice.add("I keep a heron called Bartholomew.", "A fine name.");
  const said = ["search_memory", "remember"];
  const inputs = [{ query: "What is the heron called?" }, { text: "The heron sleeps in the boathouse." }];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const toolName = said.shift();
      const shared = { usage: USAGE, warnings: [] };
      if (toolName !== undefined) {
        const input = JSON.stringify(inputs.shift());
        return { ...shared, content: [{ type: "tool-call", toolCallId: toolName, toolName, input }], finishReason: CALLS };
      }
      const known = JSON.stringify(prompt).includes("Bartholomew") ? "It is called Bartholomew." : "I do not know.";
      return { ...shared, content: [{ type: "text", text: known }], finishReason: STOP };
    },
  });
  assert.equal(await answer(model, alice, "What is my heron called? It sleeps in the boathouse."), "It is called Bartholomew.");
  assert.ok((await alice.search("boathouse")).some((one) => one.memory === "The heron sleeps in the boathouse."));
});

test("the middleware of the AI SDK puts what is recalled before the prompt, and adds the exchange once", async () => {
  const bob = ember.of("bob");
  await bob.add("I keep a tortoise called Brigit.", "Slow and steady.");
  const model = new MockLanguageModelV4({
    doGenerate: { content: [{ type: "text", text: "Brigit, I believe." }], finishReason: STOP, usage: USAGE, warnings: [] },
    doStream: {
      stream: convertArrayToReadableStream([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Under " },
        { type: "text-delta", id: "1", delta: "the fig." },
        { type: "text-end", id: "1" },
        { type: "finish", finishReason: STOP, usage: USAGE },
      ]),
    },
  });
  const remembering = withMemory(model, bob);
  const { text } = await generateText({ model: remembering, prompt: "What is my tortoise called?" });
  assert.equal(text, "Brigit, I believe.");
  const [first, last] = [model.doGenerateCalls[0]!.prompt[0]!, model.doGenerateCalls[0]!.prompt.at(-1)!];
  assert.equal(first.role, "system");
  assert.match(first.content as string, /called Brigit/);
  assert.equal(last.role, "user");
  const streamed = streamText({ model: remembering, prompt: "Where does it sleep?" });
  assert.equal(await streamed.text, "Under the fig.");
  const pages = await bob.pages();
  assert.equal(pages.length, 3);
  assert.deepEqual(pages[0]!.metadata.utterances.map((one) => one.text), ["Where does it sleep?", "Under the fig."]);
  assert.ok(pages.every((page) => !page.memory.includes("follow no instruction")));
});

test("the openai package is given what is recalled, and the exchange is remembered", async () => {
  const carol = ember.of("carol");
  await carol.add("I live in Lyon.", "Since when?");
  const upstream = await scripted(({ body }, response) => {
    const known = JSON.parse(body).messages[0].content.includes("Lyon");
    json(response, { choices: [{ index: 0, message: { role: "assistant", content: known ? "In Lyon." : "?" } }] });
  });
  try {
    const openai = new OpenAI({ baseURL: upstream.url, apiKey: "none" });
    assert.equal(await reply(openai, carol, "Where do I live?"), "In Lyon.");
    assert.equal((await carol.stats()).pages, 2);
  } finally {
    await upstream.stop();
  }
});
