// What a plugin asks for, in four groups. Within each what is most dangerous comes first.

import type { Change } from '../api/types';

export type GroupName = 'network' | 'credentials' | 'tools' | 'texts';

/** In the order in which they are read. */
export const GROUPS: readonly (readonly [GroupName, string])[] = [
  ['network', 'Network and settings'],
  ['credentials', 'Credentials'],
  ['tools', 'Tools'],
  ['texts', 'Texts'],
];

const TEXTS = ['title', 'version', 'description', 'homepage', 'categories'];
const TOOL_TEXTS = ['title', 'description', 'keywords', 'requests', 'examples', 'deprecated'];
const TOOL_CREDENTIALS = ['auth', 'auth_optional', 'scopes'];

/** By the place in the manifest. A place that is not known is of the first group, which is read first. */
export function groupOf({ path, weight }: Pick<Change, 'path' | 'weight'>): GroupName {
  const [, first = '', , third = ''] = path.split('/');
  if (weight === 'text' || TEXTS.includes(first)) return 'texts';
  if (first === 'auth') return 'credentials';
  if (first !== 'tools') return 'network';
  if (TOOL_TEXTS.includes(third)) return 'texts';
  return TOOL_CREDENTIALS.includes(third) ? 'credentials' : 'tools';
}

const WEIGHTS: readonly Change['weight'][] = ['right', 'allowed', 'text', 'less'];
const EFFECTS = ['destructive', 'write'];

/** Smaller is more dangerous: what waits, and of that what deletes, what writes, and what reaches every host of a domain. */
function rank({ path, weight, new: now }: Change): number {
  const tool = path.startsWith('/tools/');
  const effect = tool ? (typeof now === 'string' ? now : ((now as { effect?: unknown } | undefined)?.effect ?? '')) : '';
  const place = EFFECTS.indexOf(String(effect));
  const wide = !tool && typeof now === 'string' && now.includes('*');
  return WEIGHTS.indexOf(weight) * 10 + (wide ? 0 : place >= 0 ? place : 5);
}

/** Groups that have something, each in its order. */
export function grouped(changes: readonly Change[]): [GroupName, string, Change[]][] {
  return GROUPS.map(([name, title]): [GroupName, string, Change[]] => {
    const of = changes.filter((change) => groupOf(change) === name);
    return [name, title, of.toSorted((a, b) => rank(a) - rank(b))];
  }).filter(([, , of]) => of.length > 0);
}
