// The exported side of the component: one invocation in, one output or error back. Only the build
// script's entry imports this.

import { ToolError } from './error.js';
import { invoke } from './plugin.js';

/** The export `integration` of a plugin whose manifest is `manifest`, on the imports in `host`. */
export function bind(plugin, manifest, host) {
  toLog(host);
  return {
    describe: () => manifest,
    async invoke(invocation) {
      try {
        const { data, files, nextCursor, summary } = await invoke(plugin, invocation, host);
        return { data: JSON.stringify(data ?? null), files, nextCursor, summary };
      } catch (cause) {
        throw told(cause, host);
      }
    },
  };
}

/** What a program prints goes to the gateway's log: the component has no standard output. */
function toLog({ call }) {
  const say = (level) => (...words) => call.log(level, words.map(shown).join(' '), '{}');
  globalThis.console = {
    ...globalThis.console,
    debug: say('debug'), log: say('info'), info: say('info'), warn: say('warn'), error: say('error'),
  };
}

const shown = (word) => (typeof word === 'string' ? word : JSON.stringify(word) ?? String(word));

function told(cause, { call }) {
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
