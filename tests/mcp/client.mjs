// Speaks to a gateway with an official JavaScript client: `@modelcontextprotocol/client` 2.x, or
// `@modelcontextprotocol/sdk` 1.x where the mode is `sdk`.
//
// Usage: node client.mjs FOLDER, the folder that holds node_modules. Reads one JSON object from
// standard input: `url`, `key`, `mode` (`auto`, `legacy`, `sdk` or a protocol revision), `opens_urls`
// and `calls`, a list of `{name, arguments}`; with `command` it starts that program instead of asking
// `url`, with `skills` (2.x only) it lists, gets and reads every skill as a host does. Prints one JSON
// object: what was negotiated, the tools, a result for each call, the addresses the server wanted
// opened and the skills.

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
    const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
    return {
      Client,
      StreamableHTTPClientTransport,
      StdioClientTransport,
      elicit: ElicitRequestSchema,
      options: {},
    };
  }
  const mode = ["auto", "legacy"].includes(job.mode) ? job.mode : { pin: job.mode };
  return {
    ...require("@modelcontextprotocol/client"),
    ...require("@modelcontextprotocol/client/stdio"),
    elicit: "elicitation/create",
    options: { versionNegotiation: { mode } },
  };
}

const { Client, StreamableHTTPClientTransport, StdioClientTransport, elicit, options } = load();
const capabilities = job.opens_urls ? { elicitation: { url: {} } } : {};
const client = new Client({ name: "toolgate-tests", version: "1" }, { capabilities, ...options });
const opened = [];
if (job.opens_urls) {
  client.setRequestHandler(elicit, async (request) => {
    opened.push(request.params.url);
    return { action: "accept" };
  });
}
const transport = job.command
  ? new StdioClientTransport({
      command: job.command[0],
      args: job.command.slice(1),
      env: { ...process.env, TOOLGATE_API_KEY: job.key },
    })
  : new StreamableHTTPClientTransport(new URL(job.url), {
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

// What a host does with a server's skills. The library refuses a skill whose entry, size, digest or
// front matter does not hold.
async function readSkills() {
  const { SkillsClient } = require("@modelcontextprotocol/client/ext/skills");
  const host = new SkillsClient(client);
  if (!host.supported) throw new Error("the server does not declare the skills extension");
  const { skills } = await host.list();
  const read = [];
  for (const entry of skills) {
    const { skill } = await host.get(entry.uri);
    const file = await host.read(skill);
    if (!file.verified) throw new Error(`${entry.uri} was not verified`);
    read.push({ uri: entry.uri, frontmatter: file.frontmatter, body: file.body });
  }
  return read;
}

await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const asked of job.calls) results.push(await call(asked));
const skills = job.skills ? await readSkills() : [];
// The first SDK tells nobody what it negotiated over standard input and output.
const protocol = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "";
const names = tools.map((tool) => tool.name);
console.log(JSON.stringify({ protocol, tools: names, results, opened, skills }));
await transport.terminateSession?.();
await client.close();
process.exit(0);
