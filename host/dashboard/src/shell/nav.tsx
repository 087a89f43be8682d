// Where one can go. What a role may not open is not offered; the gateway refuses it anyway.

import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { Approval } from '../api/types';
import { Badge } from '../ui/badge';
import { Icon, type IconName } from '../ui/icon';
import { useIsAdmin } from './me';

interface Place {
  to: string;
  name: string;
  icon: IconName;
  admin?: boolean;
}

export const PLACES: [string, Place[]][] = [
  ['Watch', [
    { to: '/overview', name: 'Overview', icon: 'overview' },
    { to: '/executions', name: 'Executions', icon: 'executions' },
    { to: '/approvals', name: 'Approvals', icon: 'approvals' },
    { to: '/sessions', name: 'Sessions', icon: 'sessions' },
  ]],
  ['Build', [
    { to: '/tools', name: 'Tools', icon: 'tools' },
    { to: '/integrations', name: 'Integrations', icon: 'integrations' },
    { to: '/plugins', name: 'Plugins', icon: 'plugins' },
    { to: '/skills', name: 'Skills', icon: 'skills' },
    { to: '/knowledge', name: 'Knowledge', icon: 'knowledge', admin: true },
  ]],
  ['Control', [
    { to: '/permissions', name: 'Users and permissions', icon: 'permissions' },
    { to: '/webhooks', name: 'Webhooks', icon: 'webhooks', admin: true },
  ]],
  ['Settings', [
    { to: '/settings/api', name: 'API keys', icon: 'keys', admin: true },
    { to: '/settings/clients', name: 'Connect a client', icon: 'clients' },
    { to: '/settings/members', name: 'Members', icon: 'members', admin: true },
    { to: '/settings/workspace', name: 'Workspace', icon: 'workspace' },
    { to: '/settings/audit', name: 'Audit log', icon: 'audit', admin: true },
  ]],
];

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
      {PLACES.map(([group, places]) => (
        <div key={group}>
          <h2>{group}</h2>
          <ul>
            {places
              .filter((place) => admin || !place.admin)
              .map((place) => (
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
