// What a tool can use during a call: requests, settings, time, its page, small state, files.

import { ToolError, problem } from './error.js';

/** One running call. `host` is the gateway, or the host of a test. */
export class Context {
  #host;

  constructor(host, { session, cursor }) {
    this.#host = host;
    /** The gateway's session, for tools of several steps. */
    this.session = session;
    /** The cursor of the page that the caller asks for; undefined for the first page. */
    this.cursor = cursor;
  }

  /**
   * The platform's `fetch`. The gateway adds the credential whose audience contains the address. A request
   * without an answer is a `ToolError`; an answer is returned whatever its status is.
   */
  async fetch(address, init) {
    try {
      return await fetch(address, init);
    } catch (cause) {
      if (cause instanceof ToolError) throw cause;
      const host = new URL(address instanceof Request ? address.url : address).host;
      throw new ToolError(
        'unavailable',
        `the request to ${host} got no answer: the gateway refused it, or the service cannot be reached`,
        { code: 'request_failed' },
      );
    }
  }

  /** The JSON that an address answers; an answer outside 200-299 is a `ToolError` by the general rule. */
  async json(address, init) {
    const response = await this.fetch(address, init);
    const text = await response.text();
    if (!response.ok) throw problem(response, text);
    if (text === '') return null;
    try {
      return JSON.parse(text);
    } catch {
      throw ToolError.upstream('the provider answered with something that is not JSON');
    }
  }

  /** An operator's setting or a connection parameter; undefined when unset. Never a secret. */
  config(key) {
    const text = this.#host.call.config(key);
    return text === undefined || text === null ? undefined : JSON.parse(text);
  }

  /** The cursor of a tool whose pages are numbered, `first` for the first page. */
  pageNumber(first = 1) {
    if (this.cursor === undefined) return first;
    if (!/^[0-9]{1,15}$/.test(this.cursor)) {
      throw ToolError.invalid('/cursor', 'the cursor is not one that this tool gave out');
    }
    return Number(this.cursor);
  }

  /** Milliseconds since 1970-01-01 UTC. */
  nowMs() {
    return Number(this.#host.call.nowMs());
  }

  /** Milliseconds until the call's time limit. */
  remainingMs() {
    return Number(this.#host.call.remainingMs());
  }

  /** Whether the caller has cancelled the call. */
  cancelled() {
    return this.#host.call.cancelled();
  }

  randomBytes(count) {
    return this.#host.call.randomBytes(count);
  }

  /** A line in the gateway's log. Never put arguments, bodies or personal data into it. */
  log(level, message, fields = {}) {
    this.#host.call.log(level, message, JSON.stringify(fields));
  }

  /** How far a long call has come. */
  progress(done, total, message) {
    this.#host.call.progress(BigInt(done), total === undefined ? undefined : BigInt(total), message);
  }

  /** A part of the result, sent before the complete one to callers that read a stream of REST. */
  partial(data) {
    this.#host.call.partial(JSON.stringify(data));
  }

  /** Small state of the session and this service. Needs the capability `kv`. */
  get kv() {
    const kv = requireImport(this.#host.kv, 'kv');
    const text = new TextDecoder();
    return {
      get(key) {
        const entry = kv.get(key);
        return entry && { value: JSON.parse(text.decode(entry.value)), version: Number(entry.version) };
      },
      set(key, value, { ttlSeconds, ifVersion } = {}) {
        const bytes = new TextEncoder().encode(JSON.stringify(value));
        return Number(kv.set(key, bytes, ttlSeconds, ifVersion === undefined ? undefined : BigInt(ifVersion)));
      },
      delete: (key) => kv.delete(key),
      keys: (prefix = '', cursor) => kv.listKeys(prefix, cursor),
    };
  }

  /** Files that stay on the host for the length of the call. Needs the capability `blobs`. */
  get blobs() {
    return requireImport(this.#host.blobs, 'blobs');
  }
}

function requireImport(imported, capability) {
  if (!imported) throw ToolError.internal(`the plugin does not list the capability \`${capability}\``);
  return imported;
}
