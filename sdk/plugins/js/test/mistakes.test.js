// Mistakes of authors, each with the complete message of its error.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { definePlugin, path, s, tool } from '../src/index.js';

const words = 'name, title, description, effect, input, output, idempotent, paginated, auth, authOptional, scopes, keywords, requests, queries, triggers, examples, deprecated, run';
const keys = 'service, title, version, description, homepage, categories, hosts, request_headers, response_headers, response_types, capabilities, auth, parameters, config, limits, webhook, tools';
const needs = '`definePlugin` needs service, title, version, description, tools';

const spec = {
  name: 'list_notes', description: 'Lists notes.', effect: 'read', run() {},
  input: { folder: s.string('Folder.').optional(), limit: s.integer('Notes on a page.', { min: 1, max: 100, default: 20 }) },
};
const slot = { slot: 'user', title: 'Key', type: 'api_key', placement: { header: 'x-key' }, audience: ['https://a.example'] };
const whole = { service: 'notes', title: 'Notes', version: '0.1.0', description: 'Notes.', hosts: ['a.example'], auth: [slot], tools: [tool(spec)] };
const ofTool = (more) => () => tool({ ...spec, ...more });
const ofPlugin = (more) => () => definePlugin({ ...whole, ...more });
const ofInput = (input) => ofTool({ input });

const MISTAKES = [
  // The plugin.
  [ofPlugin({ host: [] }), `unknown key \`host\`; \`definePlugin\` takes ${keys}`],
  [ofPlugin({ title: undefined }), `\`title\` is missing; ${needs}`],
  [ofPlugin({ tools: undefined }), `\`tools\` is missing; ${needs}`],
  [ofPlugin({ description: ' ' }), '`description` is a text that is not empty'],
  [ofPlugin({ service: 'My-Notes' }), '`service`: `My-Notes` is not a service name; write lower-case letters, digits and `_`, a letter first'],
  [ofPlugin({ version: '1' }), '`version`: `1` is not a semantic version; write three numbers, for example 1.0.0'],
  [ofPlugin({ hosts: 'a.example' }), '`hosts` is a list: [...]'],
  [ofPlugin({ categories: [1] }), '`categories` is a list of texts'],
  [ofPlugin({ capabilities: ['egress'] }), '`capabilities`: `egress` is not one of wasi-http, kv, blobs'],
  [ofPlugin({ limits: { memory: 1 } }), '`limits`: unknown key `memory`; known are timeout_ms, memory_mib, response_mib'],
  [ofPlugin({ tools: [] }), '`tools` is empty: a plugin has at least one tool'],
  [ofPlugin({ tools: [() => 1] }), '`tools` lists what `tool({ ... })` answers'],
  [ofPlugin({ tools: [tool(spec), tool(spec)] }), 'two tools are called list_notes'],
  // Credentials.
  [ofPlugin({ auth: slot }), '`auth` is a list: [...]'],
  [ofPlugin({ auth: ['user'] }), '`auth`[0] is an object with slot, title, type, placement, audience'],
  [ofPlugin({ auth: [{ ...slot, audience: undefined }] }), '`auth`[0]: `audience` is missing; a slot needs slot, title, type, placement, audience'],
  [ofPlugin({ auth: [{ ...slot, type: 'apiKey' }] }), '`auth`[0]: `type` is oauth2, oauth2_client_credentials, api_key, bearer, basic, not `apiKey`'],
  [ofPlugin({ auth: [{ ...slot, audience: 'https://a.example' }] }), "`auth`[0]: `audience` is a list of origins: ['https://api.example.com']"],
  [ofPlugin({ tools: [tool({ ...spec, auth: ['admin'] })] }), 'list_notes: `auth` names the slot `admin`; the plugin has user'],
  [ofPlugin({ auth: [], tools: [tool({ ...spec, auth: ['user'] })] }), 'list_notes: `auth` names the slot `user`; the plugin has none'],
  // Tools.
  [ofTool({ auth_optional: true }), `unknown word \`auth_optional\`; \`tool\` takes ${words}`],
  [ofTool({ name: 'listNotes' }), 'a tool has a `name` of lower-case words'],
  [ofTool({ description: '' }), 'list_notes: the `description` is what people and models choose by'],
  [ofTool({ effect: 'reads' }), 'list_notes: `effect` is read, write, destructive'],
  [ofTool({ run: 'list' }), 'list_notes: `run` is the function'],
  [ofTool({ keywords: 'find' }), 'list_notes: `keywords` is a list of texts'],
  [ofTool({ triggers: ['new_note'] }), 'list_notes: `triggers` is a list of objects with name, title, description, items, id'],
  [ofTool({ paginated: 'yes' }), 'list_notes: `paginated` is true or false'],
  [ofTool({ examples: {} }), 'list_notes: `examples` is a list of argument objects'],
  [ofTool({ examples: ['work'] }), "list_notes: an example is an object of arguments: { folder: 'work' }"],
  [ofTool({ examples: [{ folders: 'work' }] }), 'list_notes: an example has `folders`, which the tool does not take; it takes folder, limit'],
  // Arguments.
  [ofInput({ folder: 'string' }), "list_notes: `folder` is not a property made by `s`: write s.string('...') or another"],
  [() => s.string({ max: 3 }), "a property begins with its description: `s.string('Only notes of this folder.')`"],
  [() => s.integer('Size.', { minimum: 1 }), 'unknown word `minimum`; a property takes min, max, exclusiveMin, exclusiveMax, multipleOf, minLength, maxLength, minItems, maxItems, uniqueItems, pattern, format, examples, default'],
  [() => s.array('Tags.'), '`s.array` and `s.map` begin with what they hold: `s.array(s.string(), ...)`'],
  [() => s.oneOf('newest', 'Order.'), "`s.oneOf` begins with a list of words: `s.oneOf(['newest', 'oldest'], ...)`"],
  [ofInput({ limit: s.integer('Size.', { min: 9, max: 3 }) }), 'list_notes: `limit`: minimum 9 is more than maximum 3: no value fits'],
  [ofInput({ limit: s.integer('Size.', { max: 9, default: 20 }) }), "list_notes: `limit`: the default 20 is refused by the property's own schema"],
  [ofInput({ limit: s.integer('Size.', { default: '20' }) }), "list_notes: `limit`: the default \"20\" is refused by the property's own schema"],
  [ofInput({ order: s.oneOf(['newest'], 'Order.', { default: 'oldest' }) }), "list_notes: `order`: the default \"oldest\" is refused by the property's own schema"],
  [ofInput({ at: s.object({ name: s.string('Name.', { minLength: 3, default: 'a' }) }) }), "list_notes: `at`.`name`: the default \"a\" is refused by the property's own schema"],
  // Requests.
  [() => path('/notes'), '`path` is a template tag: path`/books/${id}`, without parentheses'],
];

test('every mistake in a declaration is reported with its tool and key', () => {
  assert.ok(MISTAKES.length >= 30);
  for (const [make, message] of MISTAKES) {
    assert.throws(make, (cause) => {
      assert.equal(cause.message, message);
      // The place is the author's own line.
      assert.match(cause.stack, /mistakes\.test\.js:\d+/);
      return cause instanceof TypeError;
    }, message);
  }
});

test('a declaration without a mistake is accepted', () => {
  assert.equal(definePlugin(whole).manifest.tools.length, 1);
  assert.equal(tool({ ...spec, examples: [{ folder: 'work' }], input: { folder: s.string('Folder.') } }).name, 'list_notes');
  assert.throws(ofTool({ examples: [{}], input: { folder: s.string('Folder.') } }), /an example lacks `folder`, which the tool needs/);
});
