import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACTIONS, matches, origin, sentence } from './audit-words';

const entry = (action: string, details: Record<string, unknown> = {}, subject = 'github') => ({ actor: 'member:mem_1', actor_name: 'Ada', action, subject, details });

describe('a change is a sentence', () => {
  it.each([
    ['approvals.deny', { tool_name: 'github_create_issue', user_id: 'bob' }, 'Ada denied github_create_issue for bob'],
    ['keys.create', { name: 'ci', prefix: 'a1', scopes: ['tools:read', 'skills:read'] }, 'Ada created the API key ci with the scopes tools:read, skills:read'],
    ['members.change', { from: 'member', to: 'admin', email: 'bob@example.com' }, 'Ada made bob@example.com admin, who was member'],
    ['permissions.change', { rules: [{ kind: 'service', name: 'slack', rule: 'deny' }, { kind: 'tool', name: 'github_get', rule: 'inherit' }] }, 'Ada changed what github may do: slack denied, github_get set back to the default'],
    ['plugins.roll_back', { to: { version: '1.0.0' }, from: { version: '2.0.0' } }, 'Ada rolled github back to 1.0.0, from 2.0.0'],
    ['services.configure', { set: ['region'], removed: ['host'] }, 'Ada changed settings of github: region; without host'],
  ])('%s', (action, details, said) => {
    expect(sentence(entry(action, details))).toBe(said);
  });

  it('counts what it does not list', () => {
    const rules = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, rule: 'deny' }));
    expect(sentence(entry('permissions.change', { rules }))).toBe('Ada changed what github may do: a denied, b denied, c denied, and 2 more');
  });

  it('of no known kind keeps everything that was said', () => {
    expect(sentence(entry('things.happen', { one: 1, more: { two: 2 } }))).toBe('Ada: things.happen of github (one: 1; more: {"two":2})');
  });

  it('names nobody where only an id is known', () => {
    expect(sentence({ ...entry('members.sign_out'), actor_name: null })).toBe('member:mem_1 signed out');
    expect(sentence({ ...entry('plugins.drop', { file: 'a.wasm' }), actor: 'gateway', actor_name: null })).toBe('The gateway took github out of service, whose file a.wasm is gone');
    expect(sentence({ ...entry('connections.connect', { service: 'slack', user_id: 'bob' }), actor: 'user:bob', actor_name: null })).toBe('bob connected slack for bob');
    expect(sentence({ ...entry('workspace.create', { name: 'Acme' }), actor: 'operator', actor_name: null })).toBe('The operator created the workspace Acme');
  });

  it('says nothing empty where a detail is missing', () => {
    for (const action of ACTIONS) expect(sentence(entry(action))).not.toMatch(/undefined|null|\[object/);
  });
});

it.each([
  ['operator', undefined, 'command line'],
  ['gateway', undefined, 'the gateway itself'],
  ['member:mem_1', '10.0.0.1', 'dashboard'],
  ['key:key_1', '10.0.0.1', 'API key'],
  ['app:app_1', undefined, 'app'],
  ['trigger:trg_1', undefined, 'trigger'],
  ['user:bob', '10.0.0.1', 'connect page'],
  ['robot:1', undefined, 'robot:1'],
])('%s comes by its own way, whether it has an address or not', (actor, address, way) => {
  expect(origin({ actor, ...(address ? { address } : {}) })).toEqual({ way, address: address ?? null });
});

it('an entry is found by words of its sentence, its action and its details', () => {
  const one = { ...entry('keys.revoke', { name: 'ci', prefix: 'a1B2' }), entry_id: '1', at: '', address: '10.0.0.1' };
  for (const typed of ['', 'ada revoked', 'keys.revoke ci', 'A1B2', '10.0.0.1']) expect(matches(one, typed), typed).toBe(true);
  for (const typed of ['bob', 'revoked bob']) expect(matches(one, typed), typed).toBe(false);
});

it('every action that the gateway writes down has a sentence, and no other', () => {
  const source = readFileSync(join(import.meta.dirname, '../../../operation/src/audit/action.rs'), 'utf8');
  const written = [...source.matchAll(/^ {4}#\[strum\(serialize = "([a-z_]+\.[a-z_]+)"\)\]$/gm)].map((match) => match[1] ?? '');
  expect(written.length).toBeGreaterThan(40);
  expect([...ACTIONS].sort()).toEqual(written.sort());
});
