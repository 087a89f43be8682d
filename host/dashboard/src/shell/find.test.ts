import { describe, expect, it } from 'vitest';
import type { Service } from '../api/types';
import { actions, byId, executionsOf, integrations, pages } from './find';
import { placesFor } from './places';

describe('pages', () => {
  it('are found by some letters of each word', () => {
    expect(pages('audit', true).map((hit) => hit.to)).toEqual(['/settings/audit']);
    expect(pages('conn cli', true).map((hit) => hit.to)).toEqual(['/settings/clients']);
    expect(pages('zzz', true)).toEqual([]);
  });
  it('of admins are not offered to members', () => {
    const names = placesFor(false).flatMap(([, places]) => places.map((place) => place.name));
    for (const name of ['API keys', 'Members', 'Audit log', 'Webhooks', 'Triggers', 'Knowledge', 'Users and permissions']) expect(names).not.toContain(name);
    expect(names).toContain('Your permissions');
    expect(pages('keys', false)).toEqual([]);
    expect(pages('keys', true)).toHaveLength(1);
  });
});

describe('actions', () => {
  it('are found by some letters of each word, and lead to the form itself', () => {
    expect(actions('invi mem', true).map((hit) => hit.to)).toEqual(['/settings/members?do=invite']);
    expect(actions('zzz', true)).toEqual([]);
  });
  it('of admins are not offered to members', () => {
    expect(actions('key', false)).toEqual([]);
    expect(actions('key', true)).toHaveLength(1);
    expect(actions('', false).length).toBeGreaterThan(3);
  });
});

describe('an id', () => {
  it('leads to what it names', () => {
    expect(byId(' exe_01KAHZ6M5T ')[0]?.to).toBe('/executions/exe_01KAHZ6M5T');
    expect(byId('apr_1')[0]?.to).toBe('/approvals/apr_1');
    expect(byId('trg_1')[0]?.to).toBe('/triggers/trg_1');
    expect(byId('run_1')[0]?.to).toBe('/scripts/run_1');
  });
  it('is nothing else: a path stays out of it', () => {
    for (const typed of ['exe_', 'exe_../x', 'exe_a/b', 'exec', 'exe_a b']) expect(byId(typed)).toEqual([]);
  });
});

it('an integration that is named comes before those that are described so', () => {
  const service = (name: string, description: string) => ({ service: name, title: name, description, categories: [] as string[] }) as Service;
  const all = [service('notes', 'Works beside mail'), service('mail', 'Sends letters')];
  expect(integrations('mail', all).map((hit) => hit.name)).toEqual(['mail', 'notes']);
  expect(integrations('', all)).toEqual([]);
});

it('executions are offered for what was found', () => {
  const hits = executionsOf([{ name: 'github_create_issue', to: '' }], [{ name: 'ada@example.com', to: '' }]);
  expect(hits.map((hit) => hit.to)).toEqual(['/executions?tool=github_create_issue', '/executions?user_id=ada%40example.com']);
});
