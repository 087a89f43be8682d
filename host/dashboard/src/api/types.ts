// The shapes that `/internal` answers. Those of mirrored routes are in `toolgate openapi`.
// Times are RFC 3339 in UTC, durations and sizes carry their unit in their name.

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
  callback_url: string;
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

export type Period = '1h' | '24h' | '7d' | '30d';

export interface Point {
  at: string;
  calls: number;
  errors: number;
  waiting: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

export interface Overview {
  period: Period;
  from: string;
  to: string;
  bucket_ms: number;
  totals: { calls: number; errors: number; waiting: number; p50_ms: number | null; p95_ms: number | null };
  series: Point[];
  top_tools: { tool_name: string; service: string; calls: number; errors: number; mean_ms: number }[];
  top_services: { service: string; calls: number; errors: number }[];
  attention: { kind: string; count: number; subject?: string | null; message: string; path: string }[];
  /** Without `keys` and `members` for those who may not see them. */
  counts: Record<string, number | undefined>;
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
  connected_before: boolean;
  /** By an admin of the workspace: then it can only be refused. */
  blocked: boolean;
  goes_to: { kind: 'site' | 'program'; name: string } | { kind: 'this_computer' };
  workspace: string;
  user_id: string;
  scopes: { scope: string; words: string }[];
}

export interface ConnectedApp {
  app_id: string;
  client_id: string;
  client_name: string;
  member_id: string;
  member_name: string;
  scopes: string[];
  connected_at: string;
  last_used_at?: string;
  expires_at: string;
}
export interface ConnectedApps {
  apps: ConnectedApp[];
  blocked: { client_id: string; client_name: string; blocked_at: string }[];
}

export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}
export type ConnectionState = 'connected' | 'not_connected' | 'expired' | 'not_needed';
export interface ListedTool {
  name: string;
  service: string;
  description: string;
  version: string;
  annotations: Annotations;
}
export interface FoundTool extends ListedTool {
  score: number;
  match_reasons: string[];
  step?: string;
  connection: ConnectionState;
}
export interface Found {
  query: string;
  service: string | null;
  total: number;
  tools: FoundTool[];
  confidence: 'high' | 'low' | 'none';
  suggestions?: string[];
}
export interface ToolSchema {
  name: string;
  service: string;
  description: string;
  inputSchema: Schema;
  outputSchema?: Schema | null;
  annotations: Annotations;
  auth: { type: string; scopes: string[] };
}

/** The part of JSON Schema that the forms read. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  [key: string]: unknown;
}

export interface PlannedRequest {
  method: string;
  url: string;
  headers: [string, string][] | Record<string, string>;
  body: string;
}
export interface ToolFailure {
  code: string;
  message: string;
  can_retry: boolean;
  retry_after_ms?: number | null;
  suggested_fix?: string | null;
  provider_status?: number | null;
  provider_body?: unknown;
}
export interface Execution {
  execution_id: string;
  tool_name: string;
  service: string;
  session_id: string;
  duration_ms: number;
  status: 'success' | 'error' | 'auth_required' | 'auth_expired' | 'dry_run' | 'approval_required';
  reason?: string;
  result?: unknown;
  error?: ToolFailure;
  message?: string;
  connect_url?: string | null;
  requests?: PlannedRequest[];
  approval_id?: string;
  approval_url?: string;
}

export interface RequestRecord {
  method: string;
  origin?: string;
  host: string;
  path: string;
  query?: string | null;
  body_sha256?: string | null;
  status?: number | null;
  bytes_out: number;
  bytes_in: number;
  /** After the start of the call. */
  started_ms?: number | null;
  duration_ms: number;
  credential_slot?: string | null;
}
export interface Receipt {
  execution_id: string;
  /** `connection`: what the gateway itself sent for one. */
  kind?: 'tool' | 'connection';
  tool_name: string;
  user_id: string;
  key: { name: string; prefix: string };
  status: string;
  reason?: string | null;
  started_at: string;
  duration_ms: number;
  connection_id?: string | null;
  plugin: { service: string; version: string; sha256: string };
  requests: RequestRecord[];
  /** What a failed call was answered; not in lists. */
  failure?: { code: string; message: string; suggested_fix?: string | null; provider_status?: number | null } | null;
}

/** The body of one request or answer, where the workspace keeps them. */
export interface Payload {
  /** Of the request within the call; an answer has the number of its request. */
  number: number;
  side: 'request' | 'answer';
  method: string;
  origin: string;
  path: string;
  media_type?: string | null;
  bytes_total: number;
  truncated: boolean;
  encoding: 'text' | 'base64';
  content: string;
}

export interface Approval {
  approval_id: string;
  user_id: string;
  tool_name: string;
  title: string;
  status: 'pending' | 'approved' | 'denied' | 'used' | 'expired';
  arguments: unknown;
  requests: PlannedRequest[];
  requests_complete: boolean;
  asked_by: string;
  asked_by_name: string;
  approvers: Approvers;
  can_decide: boolean;
  connection_id?: string | null;
  account?: string | null;
  plugin: { version: string; sha256: string };
  created_at: string;
  expires_at: string;
  decided_by?: string | null;
  decided_at?: string | null;
}

export interface ServiceAuth {
  slot: string;
  title: string;
  type: string;
  scopes: string[];
  needs_app: boolean;
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
  app?: null | { client_id: string | null; has_secret: boolean; scopes: string[] | null; base_url: string | null; everywhere: boolean };
  settings: ServiceSetting[];
  connections: number;
  connections_broken: number;
}
export interface Services {
  callback_url: string;
  services: Service[];
}
export interface ServiceTest {
  ok: boolean;
  checks: { check: string; ok: boolean; message: string }[];
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

export interface ListedSkill {
  skill_id: string;
  name: string;
  summary: string;
  version: number;
  created_at: string;
  updated_at: string;
}
export interface Skill extends ListedSkill {
  instructions: string;
}
export interface SkillVersion {
  version: number;
  name: string;
  summary: string;
  instructions: string;
  created_at: string;
}
export interface SkillCheck {
  skill_id: string;
  user_id: string;
  ready: boolean;
  tools: { tool_name: string; service: string; permission: Permission; connection: ConnectionState }[];
  unknown_tools: string[];
}

export type Permission = 'allow' | 'deny' | 'ask';
export type Setting = Permission | 'inherit';
/** Who decides about a call that asks. */
export type Approvers = 'admins' | 'members' | 'self';
export interface LimitedRule {
  service?: string | null;
  tool_name?: string | null;
  permission: Permission;
  expires_at?: string | null;
  max_calls?: number | null;
  used?: number | null;
}
export interface UserPermissions {
  user_id: string;
  default: 'allow' | 'by_effect';
  services: Record<string, Permission>;
  tools: Record<string, Permission>;
  /** For the rules that ask, where it is not `admins`. */
  approvers?: { services?: Record<string, Approvers>; tools?: Record<string, Approvers> };
  limited?: LimitedRule[];
}
export interface PermissionCounts {
  allow: number;
  deny: number;
  ask: number;
}
export interface PermissionSummary {
  user_id: string;
  services: Record<string, PermissionCounts>;
  total: PermissionCounts;
}
export interface Explained {
  user_id: string;
  tool_name: string;
  service: string;
  effect: string;
  permission: Permission;
  decided_by: string;
  /** Where the permission is `ask`. */
  approvers?: Approvers | null;
  rule?: LimitedRule | null;
}
export interface User {
  user_id: string;
  connections: number;
  rules: number;
  calls_30d: number;
  last_seen_at: string | null;
}

export interface Session {
  session_id: string;
  user_id: string;
  created_at: string;
  last_active_at: string;
  expires_at: string;
  /** The last that were said, without the steps between. */
  messages?: Message[] | null;
}
/** One step of a session. */
export interface Message {
  message_id: string;
  role: 'user' | 'assistant' | 'tool';
  content: string;
  created_at: string;
  status?: 'completed' | 'paused' | 'stopped';
  reason?: string;
  model_configured?: boolean;
  tool_calls?: { tool_call_id: string; operation: string; arguments: string }[];
  operation?: string;
  execution_id?: string;
  pending?: { tool_name: string; service: string; message: string; connect_url?: string | null; approval_id?: string | null };
  matches?: { skills: ListedSkill[]; passages: Passage[]; tools: ListedTool[] };
  tokens?: number;
}

export interface ListedDocument {
  document_id: string;
  title: string;
  media_type: string;
  sha256: string;
  bytes: number;
  chars: number;
  pages?: number | null;
  created_at: string;
}
export interface Document extends ListedDocument {
  content: string;
}
export interface Passage {
  document_id: string;
  title: string;
  text: string;
  /** In characters of the document's text. */
  position: { starts_at: number; ends_at: number; page?: number | null };
  score: number;
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
  default_permission: 'allow' | 'by_effect';
  keep_payloads: boolean;
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

export interface Webhook {
  webhook_id: string;
  url: string;
  description: string;
  events: string[];
  filters: { user_ids?: string[]; services?: string[]; tool_names?: string[] };
  enabled: boolean;
  disabled_reason?: string | null;
  disabled_at?: string | null;
  failing_since?: string | null;
  previous_secret_until?: string | null;
  created_at: string;
  updated_at: string;
}
export type NewWebhook = Webhook & { secret: string };
export interface Delivery {
  delivery_id: string;
  event_id: string;
  type: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_attempt_at?: string | null;
  last_attempt_at?: string | null;
  response_status?: number | null;
  duration_ms?: number | null;
  last_error?: string | null;
  created_at: string;
}
