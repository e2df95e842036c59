import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { COMMAND, type Running, serve } from "../../../clients/typescript/test/server.js";

let server: Running;

before(async () => {
  server = await serve();
});
after(() => server.stop());

/** A client whose person answers questions. */
function client(asked: string[], forget: boolean): Client {
  const made = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  made.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { forget } };
  });
  return made;
}

/** What a tool answers to a program; its schema was checked by the SDK. */
async function told(mcp: Client, name: string, args: Record<string, unknown>): Promise<Record<string, any>> {
  const result = await mcp.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result.content));
  return result.structuredContent as Record<string, unknown>;
}

async function lives(mcp: Client): Promise<void> {
  const { tools } = await mcp.listTools();
  assert.equal(tools.length, 11);
  const { page_id } = await told(mcp, "add_memory", { user_input: "My parrot is called Zazu.", agent_response: "Hello, Zazu." });
  await told(mcp, "add_instruction", { text: "Always answer in French." });
  const recalled = await told(mcp, "retrieve_memory", { query: "What is the parrot called?" });
  assert.match(recalled.text, /Zazu/);
  assert.equal((await told(mcp, "list_memory", {})).items[0].id, page_id);
  const { resources } = await mcp.listResources();
  assert.ok(resources.some((one) => one.uri === "ember://instructions"));
  const { contents } = await mcp.readResource({ uri: `ember://pages/${page_id}` });
  assert.match(JSON.stringify(contents), /Zazu/);
  const ref = { type: "ref/resource", uri: "ember://pages/{id}" } as const;
  const { completion } = await mcp.complete({ ref, argument: { name: "id", value: "p" } });
  assert.ok(completion.values.includes(page_id));
  const { messages } = await mcp.getPrompt({ name: "recall", arguments: { question: "What is the parrot called?" } });
  assert.match(JSON.stringify(messages), /Zazu/);
}

test("the TypeScript SDK of MCP works over stdio, and its person is asked before anything is forgotten", async () => {
  const [command, ...args] = COMMAND;
  const env = { ...(process.env as Record<string, string>), EMBERMEM_EMBEDDER: "hashed" };
  const asked: string[] = [];
  const mcp = client(asked, false);
  await mcp.connect(new StdioClientTransport({ command, args: [...args, "--store", server.store, "--user", "alice", "mcp"], env }));
  try {
    await lives(mcp);
    const [page] = (await told(mcp, "list_memory", {})).items;
    const kept = await told(mcp, "forget_memory", { id: page.id, confirm: true });
    assert.equal(kept.done, false);
    assert.match(asked.join("\n"), /^Forget for good: 1 page, 2 messages.*Zazu/s);
  } finally {
    await mcp.close();
  }
});

test("the TypeScript SDK of MCP works over HTTP", async () => {
  const asked: string[] = [];
  const mcp = client(asked, true);
  const headers = { "X-Ember-User": "bob" };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  try {
    await lives(mcp);
    const [page] = (await told(mcp, "list_memory", {})).items;
    assert.equal((await told(mcp, "forget_memory", { id: page.id, confirm: true })).done, true);
    assert.deepEqual(asked, []); // the protocol of this SDK asks over a connection back, which a stateless server has not
  } finally {
    await mcp.close();
  }
});
