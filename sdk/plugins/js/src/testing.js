// The host of a test: settings, exchanges, a memory for state and files. A plugin's tests run natively,
// `node --test`, and send nothing: `fetch` is answered from a script that also checks what was sent.
//
// One file in examples/ for each case, in the form that `toolgate plugin test` replays in the sandbox:
//
//   { "note": "Written from the published description; not a recording.",
//     "source": "https://docs.example.com/notes#get",
//     "tool": "get_note", "arguments": { "id": 7 }, "cursor": null, "config": {},
//     "exchanges": [{ "request": { "method": "GET", "url": "https://api.example.com/notes/7", "auth": "user" },
//                     "response": { "status": 200, "body": { "id": 7 } } }],
//     "result": { "id": 7 }, "next_cursor": null }
//
// In place of `result`, `error` names the members of the error that matter.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { invoke } from './plugin.js';
import { ToolError } from './error.js';

const KEYS = [
  'note', 'source', 'tool', 'arguments', 'cursor', 'config', 'connected', 'parameters', 'exchanges', 'result',
  'next_cursor', 'summary', 'error',
];

/** A host that answers from a script. */
export class MockHost {
  constructor({ config = {}, exchanges = [], nowMs = 1_767_225_600_000, files = {} } = {}) {
    this.config = config;
    this.exchanges = [...exchanges];
    this.nowMs = nowMs;
    this.files = files;
    this.sent = [];
    this.complaints = [];
    this.entries = new Map();
  }

  /** Calls one tool. Throws, as tests do, when the plugin sent something else than expected. */
  async call(plugin, tool, args = {}, cursor) {
    const before = globalThis.fetch;
    globalThis.fetch = (address, init) => this.#answer(plugin, new Request(address, init));
    let outcome;
    try {
      outcome = { output: await invoke(plugin, { tool, arguments: JSON.stringify(args), cursor: cursor ?? undefined }, this.#imports()) };
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      outcome = { error: cause };
    } finally {
      globalThis.fetch = before;
    }
    if (this.exchanges.length > 0) this.complaints.push(`never sent: ${JSON.stringify(this.exchanges[0].request)}`);
    assert.deepEqual(this.complaints, [], `${tool}: what was sent differs; it ended with ${JSON.stringify(outcome)}`);
    if (outcome.error) throw outcome.error;
    return outcome.output;
  }

  async #answer(plugin, request) {
    const url = new URL(request.url);
    const place = `${url.origin}${url.pathname}`;
    this.sent.push(`${request.method} ${place}`);
    const exchange = this.exchanges.shift();
    const refusal = new TypeError('the request is refused by this test');
    if (!exchange) {
      this.complaints.push(`not expected: ${request.method} ${request.url}`);
      throw refusal;
    }
    const expected = exchange.request ?? {};
    const before = this.complaints.length;
    const compare = (what, sent, expectedValue) => {
      if (expectedValue !== undefined && !same(sent, expectedValue)) {
        this.complaints.push(`${what}: sent ${JSON.stringify(sent)}, expected ${JSON.stringify(expectedValue)}`);
      }
    };
    const wantedUrl = expected.url && new URL(expected.url);
    compare('method', request.method, expected.method);
    if (wantedUrl) compare('url', place, `${wantedUrl.origin}${wantedUrl.pathname}`);
    compare('auth', slotFor(plugin.manifest, url, this.config) ?? null, expected.auth);
    const wantedQuery = { ...(wantedUrl ? queryOf(wantedUrl) : {}), ...expected.query };
    compare('query', queryOf(url), wantedQuery);
    const text = await request.text();
    compare('body', text === '' ? null : parsed(text), expected.body ?? null);
    for (const [name, value] of Object.entries(expected.headers ?? {})) {
      compare(name, request.headers.get(name), value);
    }
    if (this.complaints.length > before || exchange.response?.failure) throw refusal;
    const { status = 200, headers = {}, body } = exchange.response ?? {};
    const bytes = body === undefined || body === null ? null : typeof body === 'string' ? body : JSON.stringify(body);
    return new Response(bytes, { status, headers });
  }

  #imports() {
    const { config, nowMs, files, entries } = this;
    const conflict = (key) => new ToolError('conflict', `${key} has changed`);
    return {
      call: {
        log() {},
        progress() {},
        partial() {},
        cancelled: () => false,
        remainingMs: () => 30_000n,
        nowMs: () => BigInt(nowMs),
        randomBytes: (count) => Uint8Array.from({ length: count }, (_, index) => index % 256),
        config: (key) => (key in config ? JSON.stringify(config[key]) : undefined),
      },
      kv: {
        get: (key) => entries.get(key),
        set(key, value, _ttlSeconds, ifVersion) {
          const version = entries.get(key)?.version ?? 0n;
          if (ifVersion !== undefined && ifVersion !== version) throw conflict(key);
          entries.set(key, { value, version: version + 1n });
          return version + 1n;
        },
        delete: (key) => void entries.delete(key),
        listKeys: (prefix) => [[...entries.keys()].filter((key) => key.startsWith(prefix)), undefined],
      },
      blobs: {
        create: (mediaType, name, data) => new MockBlob(mediaType, name, data),
        open(reference) {
          const file = files[reference];
          if (!file) throw ToolError.notFound(`no file ${reference}`);
          return new MockBlob(file.mediaType, reference, file.data);
        },
      },
    };
  }
}

class MockBlob {
  #mediaType;
  #name;
  #data;

  constructor(mediaType, name, data) {
    this.#mediaType = mediaType;
    this.#name = name;
    this.#data = data;
  }

  size() {
    return BigInt(this.#data.length);
  }

  mediaType() {
    return this.#mediaType;
  }

  name() {
    return this.#name;
  }

  read(offset, len) {
    return this.#data.slice(Number(offset), Number(offset) + len);
  }

  append(data) {
    const all = new Uint8Array(this.#data.length + data.length);
    all.set(this.#data);
    all.set(data, this.#data.length);
    this.#data = all;
  }
}

/** Runs every `*.json` of `folder` as a test, and demands an example that succeeds for every tool. */
export function replayFolder(plugin, folder) {
  const shown = new Set();
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json')).sort()) {
    const example = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    if (!('error' in example)) shown.add(example.tool);
    test(`examples/${name} is answered as written`, () => replay(plugin, example));
  }
  test('every tool has an example that succeeds', () => {
    assert.deepEqual([...plugin.tools.keys()].filter((tool) => !shown.has(tool)), []);
  });
}

async function replay(plugin, example) {
  assert.deepEqual(Object.keys(example).filter((key) => !KEYS.includes(key)), [], 'unknown keys');
  assert.ok(example.note && example.source, '`note` and `source` say where the example comes from');
  assert.ok(('result' in example) !== ('error' in example), 'needs either `result` or `error`');
  const host = new MockHost({ config: { ...example.parameters, ...example.config }, exchanges: example.exchanges });
  const ended = host.call(plugin, example.tool, example.arguments, example.cursor);
  if ('error' in example) {
    const error = await ended.then((output) => assert.fail(`expected an error, got ${JSON.stringify(output.data)}`), (cause) => cause);
    const actual = {
      kind: error.kind, code: error.code, message: error.message, retry_after_ms: error.retryAfterMs,
      http_status: error.httpStatus, field: error.field, details: error.details,
    };
    for (const [key, value] of Object.entries(example.error)) assert.deepEqual(actual[key], value, key);
    return;
  }
  const output = await ended;
  assert.deepEqual(JSON.parse(JSON.stringify(output.data ?? null)), example.result);
  assert.equal(output.nextCursor ?? null, example.next_cursor ?? null, 'next_cursor');
  if ('summary' in example) assert.equal(output.summary, example.summary);
}

/**
 * The slot whose audience contains this address: the one whose credential the gateway adds. `{key}` in an audience
 * is replaced by a connection parameter, and an audience that is only `{key}` by the operator's value of that setting.
 */
function slotFor(manifest, url, config) {
  const filled = (text) => text.replace(/\{([a-z0-9_]+)\}/g, (whole, key) => (isLabel(config[key]) ? config[key] : whole));
  const own = (setting) => (manifest.config ?? []).some(({ key, adds_host: adds }) => adds && key === setting);
  const sent = originOf(filled(url.origin));
  const contains = (pattern) => {
    const setting = /^\{([a-z0-9_]+)\}$/.exec(pattern)?.[1];
    if (setting !== undefined) return own(setting) && originOf(config[setting]) === sent;
    const [scheme, covered] = filled(pattern).split('://*.');
    if (covered === undefined) return originOf(scheme) === sent;
    const { protocol, hostname, port } = new URL(sent);
    return protocol === `${scheme}:` && port === '' && hostname.endsWith(`.${covered.replace(/\/$/, '')}`);
  };
  return manifest.auth?.find((slot) => slot.audience.some(contains))?.slot;
}

const isLabel = (value) => typeof value === 'string' && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/i.test(value);
const originOf = (address) => (URL.canParse(address) ? new URL(address).origin : undefined);

function queryOf(url) {
  const query = {};
  for (const key of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(key);
    query[key] = values.length === 1 ? values[0] : values;
  }
  return query;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const same = (one, other) => {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
};
