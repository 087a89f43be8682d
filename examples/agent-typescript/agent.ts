// An agent: a language model that works with the tools of toolgate over MCP.
//
// Usage: node agent.ts QUESTION. The README names the environment variables.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const STEPS_MAX = 12;
const INSTRUCTIONS =
  "Answer the user's question with the tools. Search for a tool, read its schema, then execute it. " +
  "If a result asks for a connection, give the user the link and stop.";

type Call = { id: string; function: { name: string; arguments: string } };
type Message =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: Call[] }
  | { role: "tool"; tool_call_id: string; content: string };

const question = process.argv[2];
if (question === undefined) fail("usage: node agent.ts QUESTION");
const gatewayUrl = process.env.TOOLGATE_URL ?? "http://127.0.0.1:8080";
const gatewayKey = process.env.TOOLGATE_API_KEY ?? fail("TOOLGATE_API_KEY is not set");
const modelUrl = process.env.MODEL_URL ?? fail("MODEL_URL is not set");

const gateway = new Client(
  { name: "toolgate-example-agent", version: "1.0.0" },
  { versionNegotiation: { mode: "auto" } },
);
const transport = new StreamableHTTPClientTransport(new URL("/mcp", gatewayUrl), {
  requestInit: { headers: { Authorization: `Bearer ${gatewayKey}` } },
});
await gateway.connect(transport);
try {
  console.log(await answer(question));
} finally {
  await gateway.close();
}

/** Lets the model call tools until it answers in words. */
async function answer(question: string): Promise<string> {
  const { tools } = await gateway.listTools();
  const functions = tools.map((tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  }));
  const messages: Message[] = [
    { role: "system", content: INSTRUCTIONS },
    { role: "user", content: question },
  ];
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const message = await complete(messages, functions);
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    for (const call of message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: await run(call) });
    }
  }
  return fail(`The model gave no answer within ${STEPS_MAX} steps.`);
}

/** The model's next message. */
async function complete(messages: Message[], tools: object[]) {
  const key = process.env.MODEL_API_KEY;
  const response = await fetch(`${modelUrl}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ model: process.env.MODEL, messages, tools }),
  });
  if (!response.ok) throw new Error(`the model's server answered ${response.status}: ${await response.text()}`);
  const body = (await response.json()) as { choices: { message: Extract<Message, { role: "assistant" }> }[] };
  return body.choices[0]?.message ?? fail("The model's server answered without a message.");
}

/** The text of the tool's result. A failure is text too: the model reads it and tries again. */
async function run(call: Call): Promise<string> {
  console.error(`${call.function.name} ${call.function.arguments}`);
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(call.function.arguments);
  } catch (error) {
    return `The arguments are not JSON: ${error}`;
  }
  const result = await gateway.callTool({ name: call.function.name, arguments: given });
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
