import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** How `embermem` is started: EMBERMEM_COMMAND (as JSON), or the command of that name. */
export const COMMAND = JSON.parse(process.env["EMBERMEM_COMMAND"] ?? '["embermem"]') as [string, ...string[]];

export interface Running {
  url: string;
  store: string;
  stop: () => Promise<void>;
}

/** Runs `embermem` with some arguments over a store; what it prints. */
export async function embermem(store: string, ...args: string[]): Promise<string> {
  const child = start(store, args);
  let said = "";
  let complaint = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`embermem ${args.join(" ")} ended with ${code}: ${complaint}`);
  return said;
}

/** The real service on a free port of loopback, over a new store or the one given. */
export async function serve(...options: string[]): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), "embermem-ts-"));
  return serveStore(join(folder, "memory.db"), () => rm(folder, { recursive: true, force: true }), ...options);
}

export async function serveStore(store: string, after: () => Promise<void>, ...options: string[]): Promise<Running> {
  const child = start(store, ["serve", "--port", "0", ...options]);
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    said.push(line);
    const url = /http:\/\/[\w.:]+/.exec(line)?.[0];
    if (url !== undefined) {
      child.stderr!.resume();
      return { url, store, stop: () => stopped(child).then(after) };
    }
  }
  child.kill();
  throw new Error(`the server did not start: ${said.join("\n")}`);
}

function start(store: string, args: string[]): ChildProcess {
  const [program, ...first] = COMMAND;
  const env = { ...process.env, EMBERMEM_EMBEDDER: "hashed", PYTHONUTF8: "1" };
  return spawn(program, [...first, "--store", store, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
}

export interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server that answers as it is told, and keeps what it was asked. */
export async function scripted(
  answer: (asked: Asked, response: ServerResponse, number: number) => void,
): Promise<{ url: string; asked: Asked[]; stop: () => Promise<void> }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
      asked.push(one);
      answer(one, response, asked.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, asked, stop };
}

/** Answers with JSON. */
export function json(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}
