// The navigation: every place that the role may open.

import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { Approval } from '../api/types';
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

export function Nav({ onGo }: { onGo?: () => void }) {
  const [here] = useLocation();
  const admin = useIsAdmin();
  const pending = useQuery({
    queryKey: ['approvals', 'pending'],
    queryFn: () => call<{ approvals: Approval[] }>('GET', '/approvals', { query: { status: 'pending', limit: 100 } }),
  });
  const waiting = pending.data?.approvals.length ?? 0;
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
