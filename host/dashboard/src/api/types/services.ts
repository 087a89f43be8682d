// Services, connections and the plugins behind them.

import type { Schema } from './calls';

export interface ServiceAuth {
  slot: string;
  title: string;
  type: string;
  scopes: string[];
  needs_app: boolean; redirect_name?: string; tenant?: string;
}
export interface ServiceSetting {
  key: string;
  title: string;
  schema: Schema;
  set: boolean;
  value?: unknown;
  operator_only: boolean;
}
export interface Service {
  service: string;
  title: string;
  description: string;
  version: string;
  homepage?: string | null;
  categories: string[];
  tools: number;
  auth: ServiceAuth[];
  auth_type: string;
  connectable: boolean;
  missing?: string | null;
  app?: null | { client_id: string | null; has_secret: boolean; scopes: string[] | null; base_url: string | null; redirect_name: string | null; tenant: string | null; everywhere: boolean; callback: 'service' | 'shared' | 'shared-unproven' };
  /** To register at the provider; absent where the service does not use OAuth. */
  callback_url?: string;
  settings: ServiceSetting[];
  connections: number;
  connections_broken: number;
}
export interface Services {
  services: Service[];
}
export interface ServiceTest {
  ok: boolean;
  checks: { check: string; ok: boolean; message: string }[];
}

/** Whether another account is to be used from now on. */
export interface AccountQuestion {
  service: string;
  title: string;
  user_id: string;
  connection_id: string;
  account_before: string | null;
  account_now: string | null;
  expires_at: string;
}
/** An origin that connect links may lead to. */
export interface Origin {
  origin_id: string;
  origin: string;
  created_at: string;
}
export interface Connection {
  connection_id: string;
  user_id: string;
  service: string;
  auth_type: string;
  account?: string | null;
  scopes: string[];
  state: 'active' | 'refreshing' | 'cooling_down' | 'reauth_needed' | 'revoked';
  state_since: string;
  next_retry_at?: string | null;
  last_error?: string | null;
  created_at: string;
}

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
