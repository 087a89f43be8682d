// The navigation: every place that the role may open.

import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { ApprovalPage } from '../api/types';
import { Badge } from '../ui/badge';
import { Icon } from '../ui/icon';
import { useIsAdmin } from './me';
import { placesFor } from './places';

export function Brand() {
  return (
    <Link href="/overview" className="brand">
      <img src="/favicon.svg" width="24" height="24" alt="" />
      toolgate
    </Link>
  );
}

/** How many approvals are counted. */
export const PENDING_MAX = 100;

/** Calls that wait for a person now; as many as are counted, at most. */
export function usePending(): number | undefined {
  const pending = useQuery({
    queryKey: ['approvals', 'pending'],
    queryFn: () => call<ApprovalPage>('GET', '/approvals', { query: { status: 'pending', limit: PENDING_MAX } }),
  });
  return pending.data?.approvals.length;
}

export function Nav({ onGo }: { onGo?: () => void }) {
  const [here] = useLocation();
  const admin = useIsAdmin();
  const waiting = usePending() ?? 0;
  return (
    <nav className="nav stack" aria-label="Main">
      {placesFor(admin).map(([group, places]) => (
        <div key={group}>
          <h2>{group}</h2>
          <ul>
            {places.map((place) => (
              <li key={place.to}>
                <Link href={place.to} aria-current={here === place.to || here.startsWith(`${place.to}/`) ? 'page' : undefined} onClick={onGo}>
                  <Icon name={place.icon} />
                  {place.name}
                  {place.to === '/approvals' && waiting > 0 && (
                    <span className="count">
                      <Badge tone="warn">{waiting}<span className="only-read"> waiting</span></Badge>
                    </span>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
