// The sums of a workspace, and who calls in it.

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

export interface User {
  user_id: string;
  connections: number;
  rules: number;
  calls_30d: number;
  last_seen_at: string | null;
}

export type FirstStep = 'connect_service' | 'run_tool' | 'connect_client' | 'invite' | 'public_address' | 'back_up';

/** What a new workspace has still to do, as far as the reader may do it. */
export interface FirstSteps {
  steps: { step: FirstStep; done: boolean }[];
  /** The key or connected app that called last. */
  last_client: null | { kind: 'key' | 'app'; name: string; used_at: string };
}
