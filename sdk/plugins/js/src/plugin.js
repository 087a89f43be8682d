// A plugin in one declaration: the manifest's keys and the list of its tools.

import { checkPlugin, checkTool } from './check.js';
import { Property, objectOf, withDefaults } from './schema.js';
import { ToolError } from './error.js';
import { Context } from './context.js';

/** Memory that a JavaScript plugin asks for, in MiB: the interpreter alone needs ten. */
const MEMORY_MIB = 128;
const EFFECTS = ['read', 'write', 'destructive'];
const TOOL_KEYS = [
  'name', 'title', 'description', 'effect', 'input', 'output', 'idempotent', 'paginated', 'auth', 'authOptional',
  'scopes', 'keywords', 'requests', 'queries', 'triggers', 'examples', 'deprecated', 'run',
];
const CURSOR = {
  description: 'Where to go on: the next_cursor of the page before. Leave out for the first page.',
  type: 'string',
  maxLength: 2048,
};

/** Makes a function a tool; index.d.ts documents the keys. */
export function tool(spec) {
  const unknown = Object.keys(spec).find((key) => !TOOL_KEYS.includes(key));
  if (unknown) throw new TypeError(`unknown word \`${unknown}\`; \`tool\` takes ${TOOL_KEYS.join(', ')}`);
  if (!/^[a-z][a-z0-9_]*$/.test(spec.name ?? '')) throw new TypeError('a tool has a `name` of lower-case words');
  if (!spec.description?.trim()) throw new TypeError(`${spec.name}: the \`description\` is what people and models choose by`);
  if (!EFFECTS.includes(spec.effect)) throw new TypeError(`${spec.name}: \`effect\` is ${EFFECTS.join(', ')}`);
  if (typeof spec.run !== 'function') throw new TypeError(`${spec.name}: \`run\` is the function`);
  const input = isSchema(spec.input) ? structuredClone(spec.input) : objectOf(spec.input ?? {}, `${spec.name}: `);
  checkTool(spec, input);
  if (spec.paginated) input.properties = { ...input.properties, cursor: CURSOR };
  return Object.freeze({ ...spec, input });
}

const isSchema = (input) => input?.type === 'object' && !(input.type instanceof Property);

/** One page of a list. `nextCursor` is the cursor of the next page, undefined at the end. */
export function page(data, nextCursor) {
  return new Output(data, { nextCursor });
}

/** A result with the next cursor, a summary and files. */
export class Output {
  constructor(data, { nextCursor, summary, files } = {}) {
    this.data = data;
    this.nextCursor = nextCursor ?? undefined;
    this.summary = summary;
    this.files = files ?? [];
  }
}

/** Checks the declaration and freezes it. The answer is what a module exports as its default. */
export function definePlugin(plugin) {
  checkPlugin(plugin);
  const { tools, limits, capabilities, ...head } = plugin;
  const names = tools.map((one) => one.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new TypeError(`two tools are called ${twice}`);
  const manifest = {
    manifest: 1,
    ...head,
    capabilities: capabilities ?? ['wasi-http'],
    limits: { memory_mib: MEMORY_MIB, ...limits },
    tools: tools.map((one) => manifestEntry(one, (head.auth ?? []).map((slot) => slot.slot))),
  };
  return Object.freeze({ manifest, tools: new Map(tools.map((one) => [one.name, one])) });
}

/** A tool's entry in the manifest; it may use every slot unless it names its own. */
function manifestEntry({ authOptional, run: _run, ...spec }, slots) {
  const title = spec.title ?? spec.name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
  const out = { ...spec, title, auth: spec.auth ?? slots, auth_optional: authOptional || undefined };
  for (const flag of ['idempotent', 'paginated']) out[flag] ||= undefined;
  return JSON.parse(JSON.stringify(out));
}

/** Arguments as they were sent. JavaScript would make another integer of one beyond 2^53, so that one is refused. */
function exactly(value, at = '') {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw ToolError.invalid(at, 'is an integer beyond 2^53, which this plugin cannot hold exactly');
  }
  for (const [key, inner] of Object.entries(value !== null && typeof value === 'object' ? value : {})) {
    exactly(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
  return value;
}

/** Runs one tool. `invocation` is the contract's, `host` the call's imports. */
export async function invoke(plugin, invocation, host) {
  const found = plugin.tools.get(invocation.tool);
  if (!found) throw ToolError.internal(`there is no tool ${invocation.tool}`);
  const given = withDefaults(found.input, exactly(JSON.parse(invocation.arguments)));
  delete given.cursor;
  const context = new Context(host, { session: invocation.session, cursor: invocation.cursor });
  const answer = await found.run(given, context);
  return answer instanceof Output ? answer : new Output(answer);
}
