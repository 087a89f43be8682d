import type { Output, Plugin } from './index.js';

export interface Exchange {
  request: { method?: string; url?: string; query?: Record<string, string | string[]>; headers?: Record<string, string>; body?: unknown; auth?: string };
  response: { status?: number; headers?: Record<string, string>; body?: unknown; failure?: unknown };
}

/** A host that answers from a script. */
export declare class MockHost {
  constructor(script?: {
    config?: Record<string, unknown>;
    exchanges?: Exchange[];
    nowMs?: number;
    files?: Record<string, { mediaType: string; data: Uint8Array }>;
  });
  /** Requests sent so far, as `METHOD address`. */
  readonly sent: string[];
  /** Calls one tool; throws when the plugin sent something else than expected. */
  call(plugin: Plugin, tool: string, args?: Record<string, unknown>, cursor?: string): Promise<Output>;
}

/** Runs every `*.json` of `folder` as a test, and demands an example that succeeds for every tool. */
export declare function replayFolder(plugin: Plugin, folder: string): void;
