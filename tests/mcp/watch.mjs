// Calls one tool with an official JavaScript client (`@modelcontextprotocol/client` 2.x, or
// `@modelcontextprotocol/sdk` 1.x) and hears of its progress.
//
// Usage: node watch.mjs JOB, a JSON object: `url`, `key`, `package` (`client` or `sdk`), `mode` (2.x only), `folder`,
// which holds node_modules, `name`, `arguments` and `cancel_after`, the number of notifications after which the call
// is taken back, or null; with `command` it starts that program (2.x only) instead of asking `url`. Prints one JSON
// object: `progress`, and `text` or `error`.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const job = JSON.parse(process.argv[2]);
const require = createRequire(join(job.folder, 'package.json'));
const isSdk = job.package === 'sdk';
const { Client } = isSdk ? require('@modelcontextprotocol/sdk/client/index.js') : require('@modelcontextprotocol/client');
const { StreamableHTTPClientTransport } = isSdk
  ? require('@modelcontextprotocol/sdk/client/streamableHttp.js')
  : require('@modelcontextprotocol/client');

const { StdioClientTransport } = isSdk ? {} : require('@modelcontextprotocol/client/stdio');

const options = isSdk ? {} : { versionNegotiation: { mode: job.mode } };
const client = new Client({ name: 'toolgate-tests', version: '1' }, options);
const [program, ...args] = job.command ?? [];
const requestInit = { headers: { Authorization: `Bearer ${job.key}` } };
const transport = program
  ? new StdioClientTransport({ command: program, args, env: { ...process.env, TOOLGATE_API_KEY: job.key } })
  : new StreamableHTTPClientTransport(new URL(job.url), { requestInit });
await client.connect(transport);
// Closing the client would also stop what is on its way, the notification of a cancellation with it.
const sent = [];
const send = transport.send.bind(transport);
transport.send = (...message) => {
  sent.push(send(...message));
  return sent.at(-1);
};

const progress = [];
const abort = new AbortController();
const watching = {
  signal: abort.signal,
  onprogress: (told) => {
    progress.push(told);
    if (progress.length === job.cancel_after) abort.abort('enough');
  },
};
const params = { name: job.name, arguments: job.arguments };
let ended;
try {
  const result = isSdk ? await client.callTool(params, undefined, watching) : await client.callTool(params, watching);
  ended = { text: result.content.map((block) => block.text).join('') };
} catch (error) {
  ended = { error: String(error) };
}
await new Promise((done) => process.stdout.write(JSON.stringify({ progress, ...ended }), done));
await Promise.allSettled(sent);
await client.close();
