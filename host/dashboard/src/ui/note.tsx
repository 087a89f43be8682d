// What a page says when there is nothing, when it waits, and when something went wrong.

import type { ReactNode } from 'react';
import { ApiError } from '../api/client';
import { Button } from './button';
import { Icon, type IconName } from './icon';

export function Note({ tone = 'info', children }: { tone?: 'info' | 'ok' | 'warn' | 'bad'; children: ReactNode }) {
  const icon = { info: 'info', ok: 'done', warn: 'warn', bad: 'warn' } as const;
  return (
    <div className={`note-box ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icon[tone]} />
      <div className="stack tight grow">{children}</div>
    </div>
  );
}

/** What people are told in other words than programs are. */
const PLAIN: Record<string, string> = {
  invalid_credentials: 'Wrong e-mail or password.',
  sign_in_required: 'You are not signed in.',
};

/** A refusal with its next step and the request id to ask about. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  const api = error instanceof ApiError ? error : null;
  const violations = (api?.details?.violations ?? []) as { path: string; message: string }[];
  return (
    <Note tone="bad">
      <p className="strong">{PLAIN[api?.code ?? ''] ?? (error instanceof Error ? error.message : 'Something went wrong.')}</p>
      {violations.length > 0 && (
        <ul>
          {violations.map((violation) => (
            <li key={violation.path + violation.message}>
              <code>{violation.path || '/'}</code> {violation.message}
            </li>
          ))}
        </ul>
      )}
      {api?.hint && <p>{api.hint}</p>}
      {api?.retryAfterS != null && <p>Try again in {api.retryAfterS} s.</p>}
      {api && api.requestId && (
        <p className="small">
          {api.code}, request <code>{api.requestId}</code>
        </p>
      )}
      {retry && (
        <div>
          <Button size="small" icon="undo" onClick={retry}>
            Try again
          </Button>
        </div>
      )}
    </Note>
  );
}

export function Empty({ icon, title, children, action }: { icon: IconName; title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <p className="strong">{title}</p>
      {children && <p>{children}</p>}
      {action && <div className="row">{action}</div>}
    </div>
  );
}

export function Waiting({ what = 'Loading' }: { what?: string }) {
  return (
    <div className="waiting" role="status">
      <span className="spin" aria-hidden="true" />
      {what} ...
    </div>
  );
}

/** How far long work is, from 0 to 1. */
export function Progress({ label, share }: { label: string; share: number }) {
  const percent = Math.round(share * 100);
  return (
    <div className="stack tight">
      <span className="small muted">
        {label}, {percent} %
      </span>
      <div className="bar" role="progressbar" aria-label={label} aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
        <div style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
