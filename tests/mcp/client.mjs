// Speaks to a gateway with an official JavaScript client: `@modelcontextprotocol/client` 2.x, or
// `@modelcontextprotocol/sdk` 1.x where the mode is `sdk`.
//
// Usage: node client.mjs FOLDER, the folder that holds node_modules. Reads one JSON object from
// standard input: `url`, `key`, `mode` (`auto`, `legacy`, `sdk` or a protocol revision), `opens_urls`
// and `calls`, a list of `{name, arguments}`. Prints one JSON object: what was negotiated, the tools,
// a result for each call and the addresses the server wanted opened.

import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const job = JSON.parse(await text(process.stdin));

function load() {
  if (job.mode === "sdk") {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = require(
      "@modelcontextprotocol/sdk/client/streamableHttp.js",
    );
    const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");
    return { Client, StreamableHTTPClientTransport, elicit: ElicitRequestSchema, options: {} };
  }
  const mode = ["auto", "legacy"].includes(job.mode) ? job.mode : { pin: job.mode };
  return {
    ...require("@modelcontextprotocol/client"),
    elicit: "elicitation/create",
    options: { versionNegotiation: { mode } },
  };
}

const { Client, StreamableHTTPClientTransport, elicit, options } = load();
const capabilities = job.opens_urls ? { elicitation: { url: {} } } : {};
const client = new Client({ name: "toolgate-tests", version: "1" }, { capabilities, ...options });
const opened = [];
if (job.opens_urls) {
  client.setRequestHandler(elicit, async (request) => {
    opened.push(request.params.url);
    return { action: "accept" };
  });
}
const transport = new StreamableHTTPClientTransport(new URL(job.url), {
  requestInit: { headers: { Authorization: `Bearer ${job.key}` } },
});

async function call(asked) {
  let result;
  try {
    result = await client.callTool(asked);
  } catch (error) {
    return { code: error.code, message: error.message };
  }
  if (result.structuredContent !== undefined) throw new Error("structured content in a result");
  const said = result.content.map((block) => block.text).join("");
  return { text: said, is_error: result.isError === true };
}

await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const asked of job.calls) results.push(await call(asked));
const protocol = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
console.log(JSON.stringify({ protocol, tools: tools.map((tool) => tool.name), results, opened }));
await transport.terminateSession?.();
await client.close();
process.exit(0);
