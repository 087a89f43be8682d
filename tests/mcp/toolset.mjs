// Stays connected to a toolset with the official JavaScript client (`@modelcontextprotocol/client` 2.x).
//
// Usage: node toolset.mjs JOB, a JSON object: `url`, `key`, `mode` (`auto` or `legacy`) and `folder`, which holds
// node_modules. Speaks as toolset.py does.

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const job = JSON.parse(process.argv[2]);
const require = createRequire(join(job.folder, "package.json"));
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");

const say = (message) => console.log(JSON.stringify(message));

// What the client has said that changed, and who waits for it.
const changes = [];
let waiting = null;
function changed(error) {
  const told = error ? String(error) : "listChanged";
  if (waiting) waiting(told);
  else changes.push(told);
  waiting = null;
}
const nextChange = async () => changes.shift() ?? (await new Promise((done) => (waiting = done)));

const client = new Client(
  { name: "toolgate-tests", version: "1" },
  {
    versionNegotiation: { mode: job.mode },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: changed } },
  },
);

async function call(name, args) {
  let result;
  try {
    result = await client.callTool({ name, arguments: args });
  } catch (error) {
    return { code: error.code, message: error.message };
  }
  return {
    text: result.content.map((block) => block.text).join(""),
    is_error: result.isError === true,
    structured: result.structuredContent ?? null,
  };
}

await client.connect(
  new StreamableHTTPClientTransport(new URL(job.url), {
    requestInit: { headers: { Authorization: `Bearer ${job.key}` } },
  }),
);
say({
  protocol: client.getNegotiatedProtocolVersion(),
  instructions: client.getInstructions(),
  title: client.getServerVersion()?.title,
  list_changed: client.getServerCapabilities()?.tools?.listChanged,
});
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.list) say({ tools: (await client.listTools()).tools });
  else if (asked.call) say(await call(asked.call, asked.arguments));
  else if (asked.changed) say({ changed: await nextChange() });
  else break;
}
await client.close();
process.exit(0);
