// Plugins: what they ask for, their versions and files.

/** One place of a manifest, in the gateway's words. */
export interface Change {
  path: string;
  weight: 'right' | 'text' | 'less' | 'allowed';
  says: string;
  old?: unknown;
  new?: unknown;
}
/** What a plugin asks for, or what a version changes about the one that was approved. */
export interface Rights {
  changes: Change[];
}
export interface PluginVersion {
  version: string;
  sha256: string;
  activated_at?: string | null;
  active: boolean;
  difference?: Rights | null;
}
/** The MCP server that a plugin was made of. */
export interface PluginServer {
  outcome: 'not_asked' | 'answered' | 'unreachable' | 'asks_for_sign_in' | 'unusable';
  asked_at?: string | null;
  asked_next_at: string;
  failure?: string | null;
  failed_at?: string | null;
}
export interface Plugin {
  service: string;
  title?: string | null;
  state: string;
  reason?: string | null;
  version?: string | null;
  sha256?: string | null;
  tools: number;
  categories: string[];
  pending?: { version?: string | null; sha256: string; difference: Rights } | null;
  server?: PluginServer | null;
  versions: PluginVersion[];
  rights?: Rights | null;
  use: { calls_24h: number; errors_24h: number; mean_ms_24h: number | null; wasm_bytes: number | null };
}
export interface PluginFile {
  file: string;
  state: string;
  reason?: string | null;
  service?: string | null;
  sha256?: string | null;
}
export interface Plugins {
  plugins: Plugin[];
  files: PluginFile[];
  folder_writable: boolean;
}
export interface PluginCheck {
  service: string;
  title?: string | null;
  version: string;
  sha256: string;
  tools: number;
  rights: Rights;
  replaces?: null | { version?: string | null; sha256?: string | null };
  difference?: Rights | null;
  waits: boolean;
  warnings: string[];
  file?: string;
}
