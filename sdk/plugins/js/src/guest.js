// The exported side of the component: one invocation in, one output or error back. Only the build
// script's entry imports this.

import { ToolError } from './error.js';
import { invoke } from './plugin.js';

/** The export `integration` of a plugin whose manifest is `manifest`, on the imports in `host`. */
export function bind(plugin, manifest, host) {
  logConsole(host);
  return {
    describe: () => manifest,
    async invoke(invocation) {
      try {
        const { data, files, nextCursor, summary } = await invoke(plugin, invocation, host);
        return { data: JSON.stringify(data ?? null), files, nextCursor, summary };
      } catch (cause) {
        throw toWireError(cause, host);
      }
    },
  };
}

/** Writes what a program prints to the gateway's log: the component has no standard output. */
function logConsole({ call }) {
  const logAt = (level) => (...values) => call.log(level, values.map(toText).join(' '), '{}');
  globalThis.console = {
    ...globalThis.console,
    debug: logAt('debug'), log: logAt('info'), info: logAt('info'), warn: logAt('warn'), error: logAt('error'),
  };
}

const toText = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? String(value));

/** An error in the contract's form. One that is not a `ToolError` is a fault of the plugin and is logged. */
function toWireError(cause, { call }) {
  if (!(cause instanceof ToolError)) {
    call.log('error', `${cause?.stack ?? cause}`, '{}');
    cause = ToolError.internal(`the plugin failed: ${cause?.message ?? cause}`);
  }
  return {
    kind: cause.kind,
    code: cause.code,
    message: cause.message,
    retryAfterMs: cause.retryAfterMs === undefined ? undefined : BigInt(cause.retryAfterMs),
    httpStatus: cause.httpStatus,
    field: cause.field,
    details: cause.details === undefined ? undefined : JSON.stringify(cause.details),
  };
}
