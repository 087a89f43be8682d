// A change of the audit log as a sentence. What no sentence is written for stays as the gateway said it, so that nothing
// is hidden.

import type { AuditEntry } from '../api/types';

type Details = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value));
const list = (value: unknown): string => (Array.isArray(value) ? value.map(text).join(', ') : text(value));
const about = (name: unknown, otherwise: string): string => text(name) || otherwise;

interface Rule {
  kind?: string;
  name?: string;
  rule?: string;
  approvers?: string;
}
const RULE: Record<string, string> = { allow: 'allowed', deny: 'denied', ask: 'made to ask', inherit: 'set back to the default' };
const RULES_MAX = 3;

function rules(details: Details): string {
  const all = (Array.isArray(details.rules) ? details.rules : []) as Rule[];
  const said = all.slice(0, RULES_MAX).map((rule) => `${about(rule.name, 'a tool')} ${RULE[rule.rule ?? ''] ?? text(rule.rule)}`);
  return [...said, ...(all.length > RULES_MAX ? [`and ${all.length - RULES_MAX} more`] : [])].join(', ');
}

function version(value: unknown): string {
  return text((value as Details | null | undefined)?.version);
}

const groups = (details: Details): string => (details.by_groups ? ', by the groups of the identity provider' : '');

/** What was done, after the name of who did it. */
const SENTENCES: Record<string, (details: Details, subject: string) => string> = {
  'approvals.approve': (d) => `approved ${text(d.tool_name)} for ${text(d.user_id)}`,
  'approvals.deny': (d) => `denied ${text(d.tool_name)} for ${text(d.user_id)}`,
  'approvals.read': (d) => `read what calls of ${list(d.users)} would send`,
  'apps.block': (d) => `switched the app ${text(d.client)} off`,
  'apps.client_create': (d) => `named the client ${text(d.client)}${d.acts_for ? ` to act for ${text(d.acts_for)}` : ''}`,
  'apps.client_remove': (d) => `removed the client ${text(d.client)}`,
  'apps.code_reused': (d) => `lost what was granted to ${text(d.client)}: its code was used twice`,
  'apps.connect': (d) => `let the app ${text(d.client)} in with the scopes ${list(d.scopes)}`,
  'apps.enter': (d) => `was connected as ${text(d.client)}`,
  'apps.enter_by_assertion': (d) => `was let in as ${text(d.client)} by ${text(d.issuer)}`,
  'apps.refresh_reused': (d) => `lost what was granted to ${text(d.client)}: a copy of its refresh token was used`,
  'apps.refuse': (d) => `did not let the app ${text(d.client)} in`,
  'apps.refuse_assertion': (d) => `refused an assertion that ${text(d.client)} presented: ${text(d.reason)}`,
  'apps.refuse_token': (d) => `was refused a token that ${text(d.presented_by)} asked for: ${text(d.reason)}`,
  'apps.revoke': (d) => `disconnected the app ${text(d.client)}`,
  'apps.revoke_token': (d) => `gave an access token of ${text(d.client)} back`,
  'apps.unblock': (d, subject) => `switched the app ${text(d.client_id) || subject} on again`,
  'connections.connect': (d) => `connected ${text(d.service)} for ${text(d.user_id)}`,
  'connections.delete': (d) => `disconnected ${text(d.service)} of ${text(d.user_id)}${d.revoked_at_provider ? ', and revoked it at the provider' : ''}`,
  'connections.revoke': (d) => `had the provider revoke the access of ${text(d.user_id)} to ${text(d.service)}`,
  'executions.read': (d) => `read what a failed call of ${list(d.users)} was answered`,
  'executions.read_payloads': (_, subject) => `read the kept bodies of ${subject}`,
  'files.read': (d) => `read files of ${list(d.users)}`,
  'hooks.delete': () => 'closed the address for events of a connection',
  'hooks.put': (d) => `opened an address for events of ${text(d.service)}, connected by ${text(d.user_id)}`,
  'keys.change': (d) => `changed the API key ${text(d.name)}`,
  'keys.create': (d) => `created the API key ${text(d.name)} with the scopes ${list(d.scopes)}`,
  'keys.revoke': (d) => `revoked the API key ${text(d.name)}`,
  'keys.rotate': (d) => `made a second key, tg_live_${text(d.prefix)}..., to replace one`,
  'knowledge.add': (d) => `added the document ${text(d.title)}`,
  'knowledge.delete': (d) => `deleted the document ${text(d.title)}`,
  'members.change': (d) => `made ${text(d.email)} ${text(d.to)}, who was ${text(d.from)}${groups(d)}`,
  'members.create': (d) => `joined as ${text(d.role)}: ${text(d.email)}${groups(d)}`,
  'members.end_account': (d) => `ended the sign-ins and apps of ${text(d.email)}, whose session the identity provider has ended`,
  'members.invite': (d) => `invited ${text(d.email)} as ${text(d.role)}`,
  'members.link_account': () => 'linked an account of the identity provider to their membership',
  'members.offer_setup': () => 'made the link at which the first owner joins',
  'members.refresh_reused': () => 'lost a sign-in: a copy of it was used elsewhere',
  'members.remove': (d) => `removed ${text(d.email)}${groups(d)}`,
  'members.rename': (d) => `changed their name to ${text(d.name)}`,
  'members.reset': (d) => `made a link for a new password of ${text(d.email)}`,
  'members.revoke_sign_in': () => 'ended one of their sign-ins',
  'members.set_password': () => 'set a new password',
  'members.sign_in': (d) => (d.provider ? `signed in with ${text(d.provider)}` : 'signed in'),
  'members.sign_out': () => 'signed out',
  'members.uninvite': (d) => `withdrew the invitation of ${text(d.email)}`,
  'origins.add': (d) => `let connect links lead to ${text(d.origin)}`,
  'origins.remove': (d) => `let no more connect links lead to ${text(d.origin)}`,
  'permissions.change': (d, subject) => `changed what ${subject} may do: ${rules(d)}`,
  'permissions.change_default': (d) => `let tools without a rule ${d.default === 'by_effect' ? 'ask when they change something' : 'be allowed'}`,
  'plugins.activate': (d, subject) => `put version ${text(d.version)} of ${subject} into service`,
  'plugins.approve': (d, subject) => `approved version ${text(d.version)} of ${subject}`,
  'plugins.ask_server': (d) => `asked the MCP server ${text(d.url)} for its tools`,
  'plugins.drop': (d, subject) => `took ${subject} out of service, whose file ${text(d.file)} is gone`,
  'plugins.refresh': (d, subject) => `offered version ${text(d.version)} of ${subject}, because its MCP server lists other tools`,
  'plugins.remove': (_, subject) => `removed the plugin ${subject}`,
  'plugins.revert': (d, subject) => `put version ${version(d.to)} of ${subject} back, because the one after it kept crashing`,
  'plugins.roll_back': (d, subject) => `rolled ${subject} back to ${version(d.to)}, from ${version(d.from)}`,
  'plugins.upload': (d, subject) => `uploaded version ${text(d.version)} of ${subject}`,
  'results.read': (d) => `read a result of ${list(d.users)}`,
  'scripts.read': (d) => `read a run of a script of ${list(d.users)}`,
  'services.configure': (d, subject) => `changed settings of ${subject}: ${[list(d.set), Array.isArray(d.removed) && d.removed.length > 0 ? `without ${list(d.removed)}` : ''].filter(Boolean).join('; ')}`,
  'services.forget_app': (_, subject) => `removed the OAuth application of ${subject}`,
  'services.register_app': (d, subject) => `saved the OAuth application ${text(d.client_id)} of ${subject}`,
  'sessions.read': (d) => `read what ${list(d.users)} said in a session`,
  'skills.create': (d) => `created the Skill ${text(d.name)}`,
  'skills.delete': (d) => `deleted the Skill ${text(d.name)}`,
  'skills.propose': (d) => `proposed a change of the Skill ${text(d.name)}`,
  'skills.reject': (d) => `rejected a change of the Skill ${text(d.name)}`,
  'skills.update': (d) => `changed the Skill ${text(d.name)}`,
  'toolsets.create': (_, subject) => `created the toolset ${subject}`,
  'toolsets.delete': (_, subject) => `deleted the toolset ${subject}`,
  'toolsets.update': (d, subject) => `changed the toolset ${subject}: ${list(d.changed)}`,
  'vault.adopt': () => 'took another master key into use, without what was sealed under the lost one',
  'vault.rotate': () => 'put all credentials under a new master key',
  'triggers.create': (d) => `added a trigger ${text(d.event)} for ${text(d.user_id)}`,
  'triggers.delete': (d) => `deleted the trigger ${text(d.event)} of ${text(d.user_id)}`,
  'triggers.read': (d) => `read triggers of ${list(d.users)}`,
  'triggers.update': (d) => `changed the trigger ${text(d.event)}${d.paused === true ? ', which is paused now' : ''}`,
  'webhooks.create': (d) => `added a webhook to ${text(d.url)} for ${list(d.events)}`,
  'webhooks.delete': () => 'deleted a webhook',
  'webhooks.resend': () => 'had a delivery sent again',
  'webhooks.rotate': () => 'made a new signing secret for a webhook',
  'webhooks.test': () => 'sent a test to a webhook',
  'webhooks.update': (d) => `changed the webhook to ${text(d.url)}${d.enabled === false ? ', which is off now' : ''}`,
  'workspace.change': (d) => (d.name ? `renamed the workspace to ${text(d.name)}` : 'changed the settings of the workspace'),
  'workspace.code_mode': (d) => `switched code mode ${d.enabled === true ? 'on' : 'off'}`,
  'workspace.create': (d) => `created the workspace ${text(d.name)}`,
};

/** Actions that have a sentence. */
export const ACTIONS = Object.keys(SENTENCES);

/** Who acts without being a member or a key. */
const NAMES: Record<string, string> = { operator: 'The operator', gateway: 'The gateway' };

/** Who did what, without a full stop. */
export function sentence(entry: Pick<AuditEntry, 'actor' | 'actor_name' | 'action' | 'subject' | 'details'>): string {
  const who = entry.actor_name ?? NAMES[entry.actor] ?? entry.actor.replace(/^user:/, '');
  const said = SENTENCES[entry.action]?.(entry.details ?? {}, entry.subject);
  if (said) return `${who} ${said}`;
  const details = plain(entry.details);
  return `${who}: ${entry.action} of ${entry.subject}${details ? ` (${details})` : ''}`;
}

/** By what an actor came, by the beginning of its id. */
const WAYS: Record<string, string> = { member: 'dashboard', key: 'API key', app: 'app', trigger: 'trigger', user: 'connect page', operator: 'command line', gateway: 'the gateway itself' };

/** From where it was done: by what the actor came, and the address of the client where there was one. */
export function origin(entry: Pick<AuditEntry, 'actor' | 'address'>): { way: string; address: string | null } {
  const [kind = ''] = entry.actor.split(':');
  return { way: WAYS[kind] ?? entry.actor, address: entry.address ?? null };
}

/** Everything that was written down with it. */
export function plain(details: Details | null | undefined): string {
  return Object.entries(details ?? {})
    .map(([name, value]) => `${name}: ${text(value)}`)
    .join('; ');
}

/** Whether an entry has every word that was typed, in its sentence or beside it. */
export function matches(entry: AuditEntry, typed: string): boolean {
  const all = `${sentence(entry)} ${entry.action} ${entry.subject} ${origin(entry).way} ${entry.address ?? ''} ${plain(entry.details)}`.toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}
