import { expect, it } from 'vitest';
import type { Change } from '../api/types';
import { groupOf, grouped } from './rights-groups';

const change = (path: string, more: Partial<Change> = {}): Change => ({ path, weight: 'right', says: path, ...more });

it.each([
  ['/hosts/api.example.com', 'network'],
  ['/capabilities/random', 'network'],
  ['/config/api_base', 'network'],
  ['/limits/timeout_ms', 'network'],
  ['/webhook', 'network'],
  ['/auth/user', 'credentials'],
  ['/auth/user/title', 'credentials'],
  ['/tools/list/scopes/repo', 'credentials'],
  ['/tools/list', 'tools'],
  ['/tools/list/effect', 'tools'],
  ['/tools/list/input/properties/description', 'tools'],
  ['/tools/title', 'tools'],
  ['/tools/list/description', 'texts'],
  ['/description', 'texts'],
  ['/homepage', 'texts'],
  ['/something_new/description', 'network'],
] as const)('%s is of the group %s', (path, group) => {
  expect(groupOf(change(path))).toBe(group);
});

it('a text inside of a schema is a text', () => {
  expect(groupOf(change('/tools/list/input/properties/q/description', { weight: 'text' }))).toBe('texts');
});

it('what is dangerous comes first, and nothing is left out', () => {
  const changes = [
    change('/tools/read', { new: { effect: 'read' } }),
    change('/tools/write', { new: { effect: 'write' } }),
    change('/tools/old', { weight: 'less' }),
    change('/tools/delete', { new: { effect: 'destructive' } }),
    change('/hosts/api.example.com', { new: 'api.example.com' }),
    change('/hosts/*.example.com', { new: '*.example.com' }),
    change('/description', { weight: 'text', new: 'Deletes *' }),
  ];
  const groups = grouped(changes);
  expect(groups.map(([name]) => name)).toEqual(['network', 'tools', 'texts']);
  expect(groups[0]?.[2].map((one) => one.path)).toEqual(['/hosts/*.example.com', '/hosts/api.example.com']);
  expect(groups[1]?.[2].map((one) => one.path)).toEqual(['/tools/delete', '/tools/write', '/tools/read', '/tools/old']);
  expect(groups.flatMap(([, , of]) => of)).toHaveLength(changes.length);
});
