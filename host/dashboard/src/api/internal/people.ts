// People, keys and apps of a workspace, and what they did.

import type { DefaultRule } from '../schema';

export type Role = 'owner' | 'admin' | 'member';

export interface Me {
  member_id: string;
  name: string;
  email: string;
  role: Role;
  /** May change what holds for the whole installation. */
  operator: boolean;
  user_id: string;
  workspace: { workspace_id: string; name: string; plan: string };
  session_expires_at: string;
  public_url: string;
  mcp_url: string;
}

export interface Welcome {
  version: string;
  set_up: boolean;
  sign_in: { password: boolean; oidc: null | { name: string; start_url: string } };
}

export interface LinkInfo {
  kind: 'setup' | 'join' | 'reset';
  role: Role;
  email: string | null;
  workspace: string;
  expires_at: string;
}

export interface SignIn {
  sign_in_id: string;
  current: boolean;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  address: string | null;
  user_agent: string | null;
}

export interface Key {
  key_id: string;
  name: string;
  /** The first eight characters after `tg_live_`. */
  prefix: string;
  scopes: string[];
  user_id: string;
  users_any: boolean;
  rpm?: number | null;
  rpd?: number | null;
  expires_at?: string | null;
  ip_allowlist: string[];
  created_at: string;
  revoked_at?: string | null;
  last_used_at?: string | null;
}
export type NewKey = Key & { key: string };
export interface Keys {
  keys: Key[];
  scopes: string[];
  /** What a key gets that does not say. */
  default_scopes: string[];
  rpm_max: number;
  rpd_max: number;
}

/** An app that asks to be let in, as the person sees it who decides. */
export interface AppRequest {
  client_name: string;
  /** Vouches for the name; `null` where the app registered itself. */
  verified_host: string | null;
  named_by_admin: boolean;
  connected_before: boolean;
  /** By an admin of the workspace: then it can only be refused. */
  blocked: boolean;
  goes_to: { kind: 'site' | 'program'; name: string } | { kind: 'this_computer' };
  workspace: string;
  user_id: string;
  scopes: { scope: string; words: string }[];
  /** Where it asks for a toolset alone; without a title where the workspace has none of the name. */
  toolset?: { name: string; title?: string };
}

export interface ConnectedApp {
  app_id: string;
  client_id: string;
  client_name: string;
  member_id: string;
  member_name: string;
  scopes: string[];
  /** Whose address it was let in at; absent for the main one. */
  toolset?: string;
  connected_at: string;
  last_used_at?: string;
  expires_at: string;
}
export interface ConnectedApps {
  apps: ConnectedApp[];
  blocked: { client_id: string; client_name: string; blocked_at: string }[];
}

/** A client that an admin has named. */
export interface NamedClient {
  client_id: string;
  name: string;
  redirect_uris: string[];
  acts_for?: string;
  scopes: string[];
  has_secret: boolean;
  created_at: string;
  last_used_at?: string;
}
export type NewNamedClient = NamedClient & { client_secret?: string };
export interface NamedClients {
  clients: NamedClient[];
  /** What a client may have. */
  scopes: string[];
}

export interface Member {
  member_id: string;
  name: string;
  email: string;
  role: Role;
  created_at: string;
  last_seen_at?: string | null;
  has_password: boolean;
  oidc_linked: boolean;
  you: boolean;
}
export interface Members {
  members: Member[];
  invitations: { invitation_id: string; email: string; role: Role; created_at: string; expires_at: string }[];
}
export interface Workspace {
  workspace_id: string;
  name: string;
  plan: string;
  rpm: number | null;
  default_permission: DefaultRule;
  keep_payloads: boolean;
  review_skills: boolean;
  created_at: string;
}
export interface AuditEntry {
  entry_id: string;
  at: string;
  actor: string;
  actor_name?: string | null;
  action: string;
  subject: string;
  details: Record<string, unknown>;
  address?: string | null;
  request_id?: string | null;
}
