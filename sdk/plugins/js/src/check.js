// Checks a declaration while it is made: what a gateway would refuse is an error that names the tool and the key.

const KEYS = [
  'service', 'title', 'version', 'description', 'homepage', 'categories', 'hosts', 'request_headers', 'response_headers',
  'response_types', 'capabilities', 'auth', 'parameters', 'config', 'limits', 'webhook', 'tools',
];
const NEEDED = ['service', 'title', 'version', 'description', 'tools'];
const LISTS_OF_TEXT = ['categories', 'hosts', 'request_headers', 'response_headers', 'response_types', 'capabilities'];
const LISTS = [...LISTS_OF_TEXT, 'auth', 'parameters', 'config', 'tools'];
export const CAPABILITIES = ['wasi-http', 'kv', 'blobs'];
const SLOT_NEEDED = ['slot', 'title', 'type', 'placement', 'audience'];
const SLOT_TYPES = ['oauth2', 'oauth2_client_credentials', 'api_key', 'bearer', 'basic'];
const LIMITS = ['timeout_ms', 'memory_mib', 'response_mib'];
const TOOL_LISTS = ['auth', 'scopes', 'keywords', 'requests', 'queries'];
const FLAGS = ['idempotent', 'paginated', 'authOptional'];
const PAIRS = [['minimum', 'maximum'], ['minLength', 'maxLength'], ['minItems', 'maxItems']];

const isText = (value) => typeof value === 'string' && value.trim() !== '';
const isTexts = (value) => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws TypeError for a declaration that every gateway refuses. */
export function checkPlugin(plugin) {
  const unknown = Object.keys(plugin).find((key) => !KEYS.includes(key));
  if (unknown) throw new TypeError(`unknown key \`${unknown}\`; \`definePlugin\` takes ${KEYS.join(', ')}`);
  const missing = NEEDED.find((key) => plugin[key] === undefined);
  if (missing) throw new TypeError(`\`${missing}\` is missing; \`definePlugin\` needs ${NEEDED.join(', ')}`);
  for (const key of NEEDED.slice(0, -1)) if (!isText(plugin[key])) throw new TypeError(`\`${key}\` is a text that is not empty`);
  if (!/^[a-z][a-z0-9_]*$/.test(plugin.service)) {
    throw new TypeError(`\`service\`: \`${plugin.service}\` is not a service name; write lower-case letters, digits and \`_\`, a letter first`);
  }
  if (!/^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/.test(plugin.version)) {
    throw new TypeError(`\`version\`: \`${plugin.version}\` is not a semantic version; write three numbers, for example 1.0.0`);
  }
  for (const key of LISTS) if (plugin[key] !== undefined && !Array.isArray(plugin[key])) throw new TypeError(`\`${key}\` is a list: [...]`);
  for (const key of LISTS_OF_TEXT) if (plugin[key] !== undefined && !isTexts(plugin[key])) throw new TypeError(`\`${key}\` is a list of texts`);
  const unknownCapability = (plugin.capabilities ?? []).find((name) => !CAPABILITIES.includes(name));
  if (unknownCapability) throw new TypeError(`\`capabilities\`: \`${unknownCapability}\` is not one of ${CAPABILITIES.join(', ')}`);
  const limit = Object.keys(plugin.limits ?? {}).find((key) => !LIMITS.includes(key));
  if (limit) throw new TypeError(`\`limits\`: unknown key \`${limit}\`; known are ${LIMITS.join(', ')}`);
  const slots = (plugin.auth ?? []).map(checkSlot);
  if (plugin.tools.length === 0) throw new TypeError('`tools` is empty: a plugin has at least one tool');
  for (const one of plugin.tools) {
    if (typeof one?.run !== 'function') throw new TypeError('`tools` lists what `tool({ ... })` answers');
    const slot = (one.auth ?? []).find((name) => !slots.includes(name));
    if (slot) throw new TypeError(`${one.name}: \`auth\` names the slot \`${slot}\`; the plugin has ${slots.join(', ') || 'none'}`);
  }
}

function checkSlot(slot, index) {
  const place = `\`auth\`[${index}]`;
  if (!isObject(slot)) throw new TypeError(`${place} is an object with ${SLOT_NEEDED.join(', ')}`);
  const missing = SLOT_NEEDED.find((key) => slot[key] === undefined);
  if (missing) throw new TypeError(`${place}: \`${missing}\` is missing; a slot needs ${SLOT_NEEDED.join(', ')}`);
  if (!SLOT_TYPES.includes(slot.type)) throw new TypeError(`${place}: \`type\` is ${SLOT_TYPES.join(', ')}, not \`${slot.type}\``);
  if (!isTexts(slot.audience)) throw new TypeError(`${place}: \`audience\` is a list of origins: ['https://api.example.com']`);
  return slot.slot;
}

/** @throws TypeError for a tool whose keys contradict each other. */
export function checkTool(spec, input) {
  for (const key of TOOL_LISTS) {
    if (spec[key] !== undefined && !isTexts(spec[key])) throw new TypeError(`${spec.name}: \`${key}\` is a list of texts`);
  }
  for (const key of FLAGS) {
    if (spec[key] !== undefined && typeof spec[key] !== 'boolean') throw new TypeError(`${spec.name}: \`${key}\` is true or false`);
  }
  if (spec.triggers !== undefined && !(Array.isArray(spec.triggers) && spec.triggers.every(isObject))) {
    throw new TypeError(`${spec.name}: \`triggers\` is a list of objects with name, title, description, items, id`);
  }
  for (const [name, schema] of Object.entries(input.properties ?? {})) checkSchema(`${spec.name}: \`${name}\``, schema);
  if (spec.examples !== undefined && !Array.isArray(spec.examples)) throw new TypeError(`${spec.name}: \`examples\` is a list of argument objects`);
  for (const example of spec.examples ?? []) {
    if (!isObject(example)) throw new TypeError(`${spec.name}: an example is an object of arguments: { folder: 'work' }`);
    const known = Object.keys(input.properties ?? {});
    const other = input.additionalProperties === false && Object.keys(example).find((name) => !known.includes(name));
    if (other) throw new TypeError(`${spec.name}: an example has \`${other}\`, which the tool does not take; it takes ${known.join(', ') || 'nothing'}`);
    const missing = (input.required ?? []).find((name) => !(name in example));
    if (missing) throw new TypeError(`${spec.name}: an example lacks \`${missing}\`, which the tool needs`);
  }
}

function checkSchema(place, schema) {
  if (!isObject(schema)) return;
  for (const [low, high] of PAIRS) {
    if (schema[low] > schema[high]) throw new TypeError(`${place}: ${low} ${schema[low]} is more than ${high} ${schema[high]}: no value fits`);
  }
  if (schema.pattern !== undefined) {
    try {
      new RegExp(schema.pattern, 'u');
    } catch (cause) {
      throw new TypeError(`${place}: \`pattern\`: ${cause.message}`);
    }
  }
  if ('default' in schema && !fits(schema, schema.default)) {
    throw new TypeError(`${place}: the default ${JSON.stringify(schema.default)} is refused by the property's own schema`);
  }
  for (const [name, one] of Object.entries(schema.properties ?? {})) checkSchema(`${place}.\`${name}\``, one);
  checkSchema(`${place}, an item`, schema.items);
}

/** Checks only type, `enum` and bounds. */
function fits(schema, value) {
  const is = {
    string: typeof value === 'string', boolean: typeof value === 'boolean', integer: Number.isInteger(value),
    number: typeof value === 'number', array: Array.isArray(value), object: isObject(value), null: value === null,
  };
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => is[type] ?? true)) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  const size = is.string ? [...value].length : is.array ? value.length : value;
  const [least, most] = is.string ? ['minLength', 'maxLength'] : is.array ? ['minItems', 'maxItems'] : ['minimum', 'maximum'];
  return !(size < schema[least]) && !(size > schema[most]);
}
