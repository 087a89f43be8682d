// When each request of a call was on its way, from the start of the call to its end.

import type { RequestRecord } from '../api/types';
import { spans } from './spans';
import { duration } from './time';

export function Waterfall({ requests, total_ms }: { requests: RequestRecord[]; total_ms: number }) {
  const drawn = spans(requests, total_ms);
  if (!drawn) return null;
  return (
    <figure className="waterfall inner">
      <figcaption className="small muted">From 0 to {duration(total_ms)}. What is not covered is time in the plugin and the gateway.</figcaption>
      <ol>
        {drawn.map(({ request, left, width }, index) => (
          <li key={index}>
            <span className="mono small name">{index + 1}. {request.method} {request.host}</span>
            <svg className={request.status == null || request.status >= 400 ? 'request-bar bad' : 'request-bar'} role="img" aria-label={`from ${duration(request.started_ms)}, for ${duration(request.duration_ms)}`}>
              <rect x={`${left}%`} width={`${width}%`} height="100%" rx="3" />
            </svg>
            <span className="small number nowrap">{duration(request.duration_ms)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
