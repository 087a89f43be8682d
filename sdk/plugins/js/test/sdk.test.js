import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { definePlugin, page, path, pick, pickEach, problem, s, tool, ToolError } from '../src/index.js';
import { MockHost } from '../src/testing.js';
import { withSection, world } from '../bin/build.js';

const plugin = (run, more = {}) => definePlugin({
  service: 'notes', title: 'Notes', version: '0.1.0', description: 'Notes.', hosts: ['a.example'],
  auth: [{ slot: 'user', title: 'Key', type: 'api_key', placement: { header: 'x-key' }, audience: ['https://a.example'] }],
  tools: [tool({ name: 'get_note', description: 'Reads a note.', effect: 'read', run, ...more })],
});

test('a declaration becomes the manifest', () => {
  const input = {
    id: s.integer('Number.', { min: 1 }),
    kind: s.oneOf(['a', 'b'], 'Kind.').optional(),
    size: s.integer('Size.', { max: 9, default: 3 }),
    tags: s.array(s.string(), 'Tags.', { maxItems: 2 }).optional(),
  };
  const { manifest } = plugin(() => null, { input, paginated: true, authOptional: true });
  assert.deepEqual(manifest.capabilities, ['wasi-http']);
  assert.equal(manifest.limits.memory_mib, 128);
  const [one] = manifest.tools;
  assert.deepEqual([one.title, one.auth, one.auth_optional, one.paginated], ['Get note', ['user'], true, true]);
  assert.deepEqual(one.input.required, ['id']);
  assert.equal(one.input.additionalProperties, false);
  assert.deepEqual(one.input.properties.id, { description: 'Number.', type: 'integer', minimum: 1 });
  assert.deepEqual(Object.keys(one.input.properties), ['id', 'kind', 'size', 'tags', 'cursor']);
});

test('a file is written in pieces', async () => {
  const writes = plugin((_args, cx) => {
    const file = cx.blobs.create('text/plain', 'a.txt', Uint8Array.of(1, 2));
    file.append(Uint8Array.of(3));
    file.append(new Uint8Array());
    return [Number(file.size()), ...file.read(1n, 9)];
  });
  assert.deepEqual((await new MockHost().call(writes, 'get_note')).data, [3, 2, 3]);
});

test('mistakes in a declaration are named', () => {
  const spec = { name: 'a', description: 'A.', effect: 'read', run() {} };
  for (const [more, what] of [
    [{ effect: 'reads' }, /effect/], [{ description: ' ' }, /description/], [{ name: 'A' }, /name/],
    [{ colour: 1 }, /unknown word `colour`/], [{ input: { a: 'string' } }, /not a property/],
  ]) assert.throws(() => tool({ ...spec, ...more }), what);
  assert.throws(() => s.string('A.', { longest: 1 }), /unknown word `longest`/);
});

test('a value in a path stays one segment and cannot vanish', () => {
  assert.equal(path`/books/${'a/b?c'}/pages/${7}`, '/books/a%2Fb%3Fc/pages/7');
  assert.equal(path`/books`, '/books');
  for (const value of ['', '.', '..', null, undefined, {}, []]) {
    assert.throws(() => path`/books/${value}`, (cause) => cause instanceof ToolError && cause.kind === 'invalid-arguments');
  }
  assert.throws(() => path('/books'), /template tag/);
});

test('a call has its defaults, its page and its state', async () => {
  const input = { size: s.integer('Size.', { default: 3 }) };
  const seen = plugin(({ size }, cx) => {
    cx.kv.set('n', [size]);
    return page({ size, kept: cx.kv.get('n'), number: cx.pageNumber(1), base: cx.config('base') }, 'next');
  }, { input, paginated: true });
  const output = await new MockHost({ config: { base: 'x' } }).call(seen, 'get_note', {}, '4');
  assert.deepEqual(output.data, { size: 3, kept: { value: [3], version: 1 }, number: 4, base: 'x' });
  assert.equal(output.nextCursor, 'next');
});

test('an integer that JavaScript would make another one is refused with its place', async () => {
  const takes = plugin((given) => given, { input: { list: s.array(s.integer(), 'Ids.') } });
  const host = new MockHost();
  assert.deepEqual((await host.call(takes, 'get_note', { list: [1, Number.MAX_SAFE_INTEGER] })).data.list[0], 1);
  const refused = host.call(takes, 'get_note', { list: [1, 36893488147419103232] });
  await assert.rejects(refused, (cause) => cause.kind === 'invalid-arguments' && cause.field === '/list/1');
});

test('what is sent is compared, and what is not sent is missed', async () => {
  const asks = plugin((_args, cx) => cx.json('https://a.example/n?x=1'));
  const request = { method: 'GET', url: 'https://a.example/n', query: { x: '1' }, auth: 'user' };
  const good = new MockHost({ exchanges: [{ request, response: { body: { ok: true } } }] });
  assert.deepEqual((await good.call(asks, 'get_note')).data, { ok: true });
  for (const exchanges of [[], [{ request: { ...request, query: {} }, response: {} }], [{ request, response: {} }, { request, response: {} }]]) {
    await assert.rejects(new MockHost({ exchanges }).call(asks, 'get_note'), assert.AssertionError);
  }
  const failing = new MockHost({ exchanges: [{ request, response: { failure: { kind: 'denied' } } }] });
  await assert.rejects(failing.call(asks, 'get_note'), (error) => error instanceof ToolError && error.kind === 'unavailable');
});

test('the credential is the one whose audience contains the address, by the rules of the gateway', async () => {
  const config = [{ key: 'api_base', title: 'Address', schema: { type: 'string' }, adds_host: true }];
  const settings = { api_base: 'https://Git.example.org/api', subdomain: 'Acme', odd: 'evil.test/' };
  for (const [audience, url, contained] of [
    ['https://a.example', 'https://A.example:443/n', true],
    ['https://a.example', 'https://a.example:8443/n', false],
    ['https://a.example', 'https://a.example.evil.test/n', false],
    ['{api_base}', 'https://git.example.org/api/n', true],
    ['{api_base}', 'https://git.example.com/api/n', false],
    // An audience that does not name the setting does not contain the operator's address.
    ['https://a.example', 'https://git.example.org/n', false],
    ['https://{subdomain}.desk.test', 'https://Acme.desk.test/n', true],
    ['https://{subdomain}.desk.test', 'https://{subdomain}.desk.test/n', true],
    ['https://{subdomain}.desk.test', 'https://other.desk.test/n', false],
    ['https://{unknown}.desk.test', 'https://acme.desk.test/n', false],
    ['https://{odd}.desk.test', 'https://evil.test/.desk.test/n', false],
    ['https://*.files.test', 'https://eu.a.files.test/n', true],
    ['https://*.files.test', 'https://evilfiles.test/n', false],
    ['https://*.files.test', 'https://a.files.test:8443/n', false],
  ]) {
    const { manifest: { auth: [slot] } } = plugin(() => null);
    const asks = definePlugin({
      service: 'git', title: 'Git', version: '0.1.0', description: 'Git.', config, auth: [{ ...slot, audience: [audience] }],
      tools: [tool({ name: 'get', description: 'Reads.', effect: 'read', run: (_args, cx) => cx.json(url) })],
    });
    const exchange = { request: { auth: contained ? 'user' : null }, response: { body: 1 } };
    const host = new MockHost({ config: settings, exchanges: [exchange] });
    assert.equal((await host.call(asks, 'get')).data, 1, `${audience} ${url}`);
  }
});

test('an error response means the same in every language', () => {
  const cases = JSON.parse(readFileSync(new URL('../../problems.json', import.meta.url), 'utf8'));
  assert.ok(cases.length > 40);
  for (const { status, headers, body, ...expected } of cases) {
    const { kind, message, code, retryAfterMs, httpStatus } = problem(new Response(body, { status, headers }), body);
    const actual = { kind, message, code, retry_after_ms: retryAfterMs, http_status: httpStatus };
    assert.deepEqual(actual, { code: undefined, retry_after_ms: undefined, http_status: status, ...expected }, `${status} ${body}`);
  }
});

test('fields are chosen, renamed and collected', () => {
  const issue = { number: 7, body: null, user: { login: 'mona' }, labels: [{ name: 'bug' }, { name: 'ui' }] };
  assert.deepEqual(pick(issue, ['number', 'body', 'author=user/login', 'labels=labels/*/name', 'first=labels/0/name', 'a/b']),
    { number: 7, author: 'mona', labels: ['bug', 'ui'], first: 'bug' });
  assert.deepEqual(pickEach({ message: 'none' }, ['x']), []);
});

test('the world has the imports of the capabilities', () => {
  const wit = 'interface blobs {\n    resource blob {\n        size: func() -> u64;\n    }\n    open: func();\n}\ninterface kv {}';
  assert.match(world(wit, ['wasi-http']), /resource blob;\n\}/);
  assert.doesNotMatch(world(wit, ['wasi-http']), /import (kv|blobs)/);
  assert.match(world(wit, ['kv', 'blobs']), /open: func[\s\S]*import blobs;\n {4}import kv;/);
});

test('a section is appended at the end with its length', () => {
  const made = withSection(Buffer.from('x'), 'y'.repeat(200));
  assert.equal(made[1], 0);
  assert.equal(made.length, 1 + 1 + 2 + 1 + 'toolgate:manifest'.length + 200);
});
