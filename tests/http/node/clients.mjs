// The JavaScript clients of OpenAI, Anthropic and Ollama, each against the proxy at EMBER_URL, for the user alice.
// Prints one JSON line for each call: which one it was, and what the program saw.

import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import OpenAI from "openai";

const url = process.env.EMBER_URL;
const question = "What is my heron called?";
const asks = [{ role: "user", content: question }];
const cold = "Is it cold in Lyon?";
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-mine", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: "sk-ant-mine", maxRetries: 0 });
const ollama = new Ollama({ host: url, headers: { "X-Ember-User": "alice" } });

const saw = (call, seen) => console.log(JSON.stringify({ call, seen }));

async function all(stream, piece) {
  const pieces = [];
  for await (const one of stream) pieces.push(piece(one) ?? "");
  return pieces.filter((text) => text.length > 0);
}

async function chatCompletions() {
  const given = { model: "m", user: "alice" };
  const whole = await openai.chat.completions.create({ ...given, messages: asks });
  saw("openai chat", whole.choices[0].message.content);
  const stream = await openai.chat.completions.create({ ...given, messages: asks, stream: true });
  saw("openai chat, streamed", await all(stream, (chunk) => chunk.choices[0]?.delta?.content));
  const tools = [{ type: "function", function: { name: "weather", parameters } }];
  const messages = [{ role: "user", content: `${cold} (chat)` }];
  const called = (await openai.chat.completions.create({ ...given, messages, tools })).choices[0].message;
  const { id, function: made } = called.tool_calls[0];
  messages.push(called, { role: "tool", tool_call_id: id, content: "3 °C" });
  const told = await openai.chat.completions.create({ ...given, messages, tools });
  saw("openai chat, tools", [made.name, made.arguments, told.choices[0].message.content]);
}

async function responses() {
  const given = { model: "m", user: "alice" };
  const first = await openai.responses.create({ ...given, input: question, instructions: "Be brief." });
  saw("openai responses", first.output_text);
  const next = await openai.responses.create({ ...given, input: "Yes.", previous_response_id: first.id });
  saw("openai responses, after a response", [next.output_text, next.id !== first.id]);
  const stream = await openai.responses.create({
    ...given, input: "Yes.", previous_response_id: next.id, stream: true,
  });
  saw("openai responses, streamed", await all(stream, (e) => (e.type === "response.output_text.delta" ? e.delta : "")));
  const tools = [{ type: "function", name: "weather", parameters, strict: false }];
  const input = [{ role: "user", content: `${cold} (responses)` }];
  const called = await openai.responses.create({ ...given, input, tools, store: false });
  const call = called.output.find((item) => item.type === "function_call");
  input.push(...called.output, { type: "function_call_output", call_id: call.call_id, output: "3 °C" });
  const told = await openai.responses.create({ ...given, input, tools, store: false });
  saw("openai responses, tools", [call.name, call.arguments, told.output_text]);
}

async function passedOn() {
  const embedded = await openai.embeddings.create({ model: "m", input: "Hi", encoding_format: "float" });
  const completed = await openai.completions.create({ model: "m", prompt: "Hi" });
  const models = await openai.models.list();
  saw("openai embeddings, completions, models", [
    embedded.data[0].embedding, completed.choices[0].text, models.data.map((one) => one.id),
  ]);
  const refused = await openai.responses.create({ model: "m", input: "x" }, { headers: { "X-Ember-Scope": "{" } })
    .catch((error) => [error.constructor.name, error.status, error.message.includes("X-Ember-Scope")]);
  saw("openai, a wrong header", refused);
}

async function messages() {
  const given = { model: "m", max_tokens: 100, metadata: { user_id: "alice" } };
  const whole = await anthropic.messages.create({ ...given, messages: asks });
  saw("anthropic messages", whole.content.filter((block) => block.type === "text").map((block) => block.text));
  const pieces = [];
  const stream = anthropic.messages.stream({ ...given, messages: asks }).on("text", (text) => pieces.push(text));
  const final = await stream.finalMessage();
  saw("anthropic messages, streamed", [pieces, final.stop_reason, final.content.map((block) => block.type)]);
  const tools = [{ name: "weather", input_schema: parameters }];
  const turns = [{ role: "user", content: `${cold} (messages)` }];
  const called = await anthropic.messages.stream({ ...given, messages: turns, tools }).finalMessage();
  const use = called.content.find((block) => block.type === "tool_use");
  turns.push({ role: "assistant", content: called.content });
  turns.push({ role: "user", content: [{ type: "tool_result", tool_use_id: use.id, content: "3 °C" }] });
  const told = await anthropic.messages.create({ ...given, messages: turns, tools });
  saw("anthropic messages, tools", [use.name, use.input, told.content.at(-1).text]);
  const counted = await anthropic.messages.countTokens({ model: "m", messages: asks });
  saw("anthropic count_tokens", counted.input_tokens);
}

async function chat() {
  const given = { model: "m" };
  saw("ollama chat", (await ollama.chat({ ...given, messages: asks })).message.content);
  const stream = await ollama.chat({ ...given, messages: asks, stream: true });
  saw("ollama chat, streamed", await all(stream, (part) => part.message.content));
  const tools = [{ type: "function", function: { name: "weather", description: "", parameters } }];
  const turns = [{ role: "user", content: `${cold} (ollama)` }];
  const called = (await ollama.chat({ ...given, messages: turns, tools })).message;
  turns.push(called, { role: "tool", tool_name: "weather", content: "3 °C" });
  const told = await ollama.chat({ ...given, messages: turns, tools });
  const made = called.tool_calls[0].function;
  saw("ollama chat, tools", [made.name, made.arguments, told.message.content]);
  saw("ollama tags, embed", [
    (await ollama.list()).models.map((one) => one.name), (await ollama.embed({ ...given, input: "Hi" })).embeddings,
  ]);
}

await chatCompletions();
await responses();
await passedOn();
await messages();
await chat();
