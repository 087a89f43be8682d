// States in words and colour; the word alone is enough.

import type { ReactNode } from 'react';

export type Tone = 'plain' | 'ok' | 'warn' | 'bad' | 'info' | 'accent';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

const TONES: Record<string, Tone> = {
  success: 'ok', active: 'ok', approved: 'ok', connected: 'ok', allow: 'ok', delivered: 'ok', used: 'ok', enabled: 'ok', done: 'ok', ok: 'ok',
  error: 'bad', deny: 'bad', denied: 'bad', quarantined: 'bad', revoked: 'bad', expired: 'bad', reauth_needed: 'bad', failed: 'bad', conflict: 'bad', disabled: 'bad',
  provider_error: 'bad', provider_rate_limited: 'bad', provider_refused: 'bad', not_configured: 'bad', timeout: 'bad', limit_exceeded: 'bad', plugin_crashed: 'bad', cancelled: 'warn',
  auth_required: 'warn', auth_expired: 'warn', approval_required: 'warn', pending: 'warn', pending_approval: 'warn', ask: 'warn', cooling_down: 'warn', not_connected: 'warn', needs_setup: 'warn', paused: 'warn', open: 'warn',
  dry_run: 'info', planned: 'info', running: 'info', interrupted: 'warn', refreshing: 'info',
};

/** A state as the gateway names it. */
export function State({ name }: { name: string }) {
  return <Badge tone={TONES[name] ?? 'plain'}>{name.replaceAll('_', ' ')}</Badge>;
}
