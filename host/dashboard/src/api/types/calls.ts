// Tools, their calls, receipts and approvals.

import type { Approvers } from './permissions';

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

export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}
export type ConnectionState = 'connected' | 'not_connected' | 'expired' | 'not_needed' | 'needs_setup';
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
  /** A body that is not text. */
  body_base64?: string;
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
  /** How the tool is declared; absent when it no longer serves. */
  annotations?: { readOnlyHint: boolean; destructiveHint: boolean } | null;
  status: 'pending' | 'approved' | 'denied' | 'used' | 'expired';
  arguments: unknown;
  /** The same as JSON text, as it runs; what a reader cannot see is escaped. */
  arguments_text: string;
  /** A secret of the connection is masked in the arguments or the requests. */
  secrets_masked: boolean;
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
