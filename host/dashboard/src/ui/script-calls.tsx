// When each call of a script was under way, from the first to the last.

import { Link } from 'wouter';
import type { ScriptCall } from '../api/types';
import { State } from './badge';
import { spans } from './spans';
import { duration } from './time';

export function ScriptCalls({ calls }: { calls: ScriptCall[] }) {
  const begun = calls.filter((call) => call.started_at != null);
  const first = Math.min(...begun.map((call) => Date.parse(call.started_at ?? '')));
  // A call without an end has no length yet.
  const timed = begun.map((call) => ({ call, started_ms: Date.parse(call.started_at ?? '') - first, duration_ms: call.duration_ms ?? 0 }));
  const total = Math.max(0, ...timed.map((one) => one.started_ms + one.duration_ms));
  const drawn = spans(timed, total) ?? [];
  return (
    <figure className="waterfall">
      <figcaption className="small muted">From 0 to {duration(total)}. What is not covered is time in the script.</figcaption>
      <ol>
        {drawn.map(({ request: { call, started_ms, duration_ms }, left, width }) => (
          <li key={call.step}>
            <span className="small name">
              {call.execution_id ? <Link href={`/executions/${call.execution_id}`} className="mono">{call.tool}</Link> : <span className="mono">{call.tool}</span>}
              {call.line != null && <span className="muted"> line {call.line}</span>} {call.status !== 'ok' && <State name={call.status} />}
            </span>
            <svg className={call.status === 'error' ? 'request-bar bad' : 'request-bar'} role="img" aria-label={`from ${duration(started_ms)}, for ${duration(duration_ms)}`}>
              <rect x={`${left}%`} width={`${width}%`} height="100%" rx="3" />
            </svg>
            <span className="small number nowrap">{call.duration_ms == null ? '' : duration(call.duration_ms)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
