// Permission rules as the gateway takes them: one rule, or many at once; and who decides where a rule asks.

import type { Method } from '../api/client';
import type { Approvers, LimitedRule, Setting, UserPermissions } from '../api/types';

export type Kind = 'services' | 'tools';

/** What a person chooses from: value, short name, and the whole of it. */
export const APPROVERS: readonly (readonly [Approvers, string, string])[] = [
  ['admins', 'Admins decide', 'an owner or admin, or an API key with the scope approvals'],
  ['members', 'Admins or the user', 'an owner or admin, or the member the call is for, unless they asked for it'],
  ['self', 'Admins or who asked', 'an owner or admin, the member the call is for, or the member who asked for it'],
];

export const whoDecides = (approvers: Approvers): string => APPROVERS.find(([value]) => value === approvers)?.[2] ?? approvers;

/** Only a rule that asks says who decides; `admins` is what holds where nothing is said. */
function decided(setting: Setting, approvers: Approvers): { approvers?: Approvers } {
  return setting === 'ask' && approvers !== 'admins' ? { approvers } : {};
}

interface RuleRequest {
  method: Method;
  path: string;
  body: Record<string, unknown>;
}

const user = (id: string) => `/permissions/users/${encodeURIComponent(id)}`;

/** The request for one rule. */
export function oneRule(userId: string, kind: Kind, name: string, setting: Setting, approvers: Approvers): RuleRequest {
  return { method: 'PATCH', path: `${user(userId)}/${kind}/${encodeURIComponent(name)}`, body: { permission: setting, ...decided(setting, approvers) } };
}

/** The request for the same rule on many services. */
export function manyRules(userId: string, services: Iterable<string>, setting: Setting, approvers: Approvers): RuleRequest {
  const rules = Object.fromEntries([...services].map((service) => [service, setting]));
  return { method: 'PATCH', path: `${user(userId)}/batch`, body: { services: rules, ...decided(setting, approvers) } };
}

export function approversOf(rules: UserPermissions, kind: Kind, name: string): Approvers {
  return rules.approvers?.[kind]?.[name] ?? 'admins';
}

/** The limit of a rule that ends by itself. */
export function limitOf(rules: UserPermissions, kind: Kind, name: string): LimitedRule | undefined {
  return rules.limited?.find((rule) => (kind === 'tools' ? rule.tool_name === name : !rule.tool_name && rule.service === name));
}
