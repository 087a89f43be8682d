// What the palette finds by itself: actions, pages, integrations, and the thing that an id names.

import type { Service } from '../api/types';
import { placesFor } from './places';

export interface Hit {
  name: string;
  about?: string;
  to: string;
}

const words = (typed: string) => typed.toLowerCase().split(/\s+/).filter(Boolean);
const has = (text: string, typed: string) => {
  const lower = text.toLowerCase();
  return words(typed).every((word) => lower.includes(word));
};

/** Where things with ids are shown, by the beginning of the id. */
const BY_ID: readonly (readonly [string, string, string])[] = [
  ['exe_', '/executions/', 'Execution'],
  ['apr_', '/approvals/', 'Approval'],
  ['ses_', '/sessions/', 'Session'],
  ['doc_', '/knowledge/', 'Document'],
  ['whk_', '/webhooks/', 'Webhook'],
  ['trg_', '/triggers/', 'Trigger'],
  ['run_', '/scripts/', 'Run of a script'],
];

export function byId(typed: string): Hit[] {
  const id = typed.trim();
  const found = BY_ID.find(([prefix]) => id.startsWith(prefix) && id.length > prefix.length && /^\w+$/.test(id));
  return found ? [{ name: `${found[2]} ${id}`, to: `${found[1]}${id}` }] : [];
}

export function pages(typed: string, admin: boolean): Hit[] {
  const all = placesFor(admin).flatMap(([group, places]) => places.map((place) => ({ name: place.name, about: group, to: place.to })));
  return [...all, { name: 'Your account', about: 'Settings', to: '/settings/account' }].filter((place) => has(`${place.name} ${place.about}`, typed));
}

/** What can be begun from anywhere; `admin`: what only an admin may. */
const ACTIONS: readonly (Hit & { admin?: boolean })[] = [
  { name: 'Connect a service', to: '/integrations?state=ready' },
  { name: 'Connect a client', to: '/settings/clients' },
  { name: 'Run a tool', to: '/tools' },
  { name: 'Decide calls that wait', to: '/approvals' },
  { name: 'Start a session', to: '/sessions?do=new' },
  { name: 'Write a Skill', to: '/skills?do=new' },
  { name: 'Create an API key', to: '/settings/api?do=create', admin: true },
  { name: 'Invite a member', to: '/settings/members?do=invite', admin: true },
  { name: 'Make a toolset', to: '/toolsets?do=new', admin: true },
  { name: 'Add a webhook', to: '/webhooks?do=add', admin: true },
  { name: 'Make a trigger', to: '/triggers?do=new', admin: true },
  { name: 'Find connections to make again', to: '/connections?state=reauth_needed' },
  { name: 'Find calls that failed', to: '/executions?status=error' },
];

export function actions(typed: string, admin: boolean): Hit[] {
  return ACTIONS.filter((action) => (admin || !action.admin) && has(action.name, typed)).map(({ name, to }) => ({ name, to }));
}

const SERVICES_MAX = 5;

/** Names first, then what descriptions say. */
export function integrations(typed: string, services: readonly Service[]): Hit[] {
  if (words(typed).length === 0) return [];
  const named = services.filter((service) => has(`${service.title} ${service.service}`, typed));
  const told = services.filter((service) => !named.includes(service) && has(`${service.description} ${service.categories.join(' ')}`, typed));
  return [...named, ...told].slice(0, SERVICES_MAX).map((service) => ({ name: service.title, about: service.service, to: `/integrations/${service.service}` }));
}

/** What was run: by a tool or user that was found. */
export function executionsOf(tools: readonly Hit[], users: readonly Hit[]): Hit[] {
  return [
    ...tools.slice(0, 1).map((tool) => ({ name: `Executions of ${tool.name}`, to: `/executions?tool=${encodeURIComponent(tool.name)}` })),
    ...users.slice(0, 1).map((user) => ({ name: `Executions for ${user.name}`, to: `/executions?user_id=${encodeURIComponent(user.name)}` })),
  ];
}
