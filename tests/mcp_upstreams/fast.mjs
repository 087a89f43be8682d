// An MCP server by the package fastmcp of npm: stateless and with sessions. Arguments: the folder of the packages, the
// port, and `stateless` for the former. Prints its port when it listens.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , folder, port, mode] = process.argv;
const from = createRequire(`${folder}/`);
const load = (name) => import(pathToFileURL(from.resolve(name)));
const { FastMCP, imageContent } = await load('fastmcp');
const { z } = await load('zod');

const server = new FastMCP({ name: 'fast-npm', version: '0.3.0' });
server.addTool({
  name: 'add-numbers',
  description: 'Adds two numbers and answers the sum.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  annotations: { readOnlyHint: true },
  execute: async ({ a, b }) => String(a + b),
});
server.addTool({
  name: 'draw',
  description: 'Answers a small picture.',
  parameters: z.object({}),
  execute: async () => imageContent({ buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') }),
});
await server.start({
  transportType: 'httpStream',
  httpStream: { port: Number(port), host: '127.0.0.1', endpoint: '/mcp', stateless: mode === 'stateless' },
});
console.log(port);
