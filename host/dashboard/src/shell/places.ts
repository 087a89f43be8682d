// Where one can go, by group. What a role may not open is not offered; the gateway refuses it anyway.

import type { IconName } from '../ui/icon';

export interface Place {
  to: string;
  name: string;
  icon: IconName;
  admin?: boolean;
  /** What a member finds there, where it is not what an admin finds. */
  forMembers?: string;
}

export const PLACES: readonly (readonly [string, readonly Place[]])[] = [
  ['Watch', [
    { to: '/overview', name: 'Overview', icon: 'overview' },
    { to: '/executions', name: 'Executions', icon: 'executions' },
    { to: '/approvals', name: 'Approvals', icon: 'approvals' },
    { to: '/sessions', name: 'Sessions', icon: 'sessions' },
    { to: '/scripts', name: 'Scripts', icon: 'scripts' },
  ]],
  ['Build', [
    { to: '/tools', name: 'Tools', icon: 'tools' },
    { to: '/integrations', name: 'Integrations', icon: 'integrations' },
    { to: '/connections', name: 'Connections', icon: 'connections' },
    { to: '/plugins', name: 'Plugins', icon: 'plugins' },
    { to: '/skills', name: 'Skills', icon: 'skills' },
    { to: '/toolsets', name: 'Toolsets', icon: 'toolsets' },
    { to: '/knowledge', name: 'Knowledge', icon: 'knowledge', admin: true },
  ]],
  ['Control', [
    { to: '/permissions', name: 'Users and permissions', icon: 'permissions', forMembers: 'Your permissions' },
    { to: '/webhooks', name: 'Webhooks', icon: 'webhooks', admin: true },
    { to: '/triggers', name: 'Triggers', icon: 'triggers', admin: true },
  ]],
  ['Settings', [
    { to: '/settings/api', name: 'API keys', icon: 'keys', admin: true },
    { to: '/settings/clients', name: 'Connect a client', icon: 'clients' },
    { to: '/settings/apps', name: 'Connected apps', icon: 'external' },
    { to: '/settings/members', name: 'Members', icon: 'members', admin: true },
    { to: '/settings/workspace', name: 'Workspace', icon: 'workspace' },
    { to: '/settings/audit', name: 'Audit log', icon: 'audit', admin: true },
  ]],
];

/** The groups as a role sees them. */
export function placesFor(admin: boolean): [string, Place[]][] {
  return PLACES.map(([group, places]) => [
    group,
    places.filter((place) => admin || !place.admin).map((place) => (admin || !place.forMembers ? place : { ...place, name: place.forMembers })),
  ]);
}
