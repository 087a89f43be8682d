import { describe, expect, it } from 'vitest';
import type { UserPermissions } from '../api/types';
import { APPROVERS, approversOf, limitOf, manyRules, oneRule } from './rules';

const rules: UserPermissions = {
  user_id: 'ada@example.com',
  default: 'allow',
  services: { github: 'ask', slack: 'ask', stripe: 'deny' },
  tools: { github_create_issue: 'ask' },
  approvers: { services: { github: 'members' } },
  limited: [{ service: 'slack', permission: 'ask', max_calls: 3 }, { service: 'github', tool_name: 'github_create_issue', permission: 'ask' }],
};

describe('a rule that asks', () => {
  it('says who decides, unless that is what holds anyway', () => {
    expect(oneRule('ada', 'services', 'github', 'ask', 'members').body).toEqual({ permission: 'ask', approvers: 'members' });
    expect(oneRule('ada', 'tools', 'github_create_issue', 'ask', 'self').body).toEqual({ permission: 'ask', approvers: 'self' });
    expect(oneRule('ada', 'services', 'github', 'ask', 'admins').body).toEqual({ permission: 'ask' });
  });

  it('says so in a batch too, once for all its rules', () => {
    expect(manyRules('ada', ['github', 'slack'], 'ask', 'members')).toEqual({
      method: 'PATCH',
      path: '/permissions/users/ada/batch',
      body: { services: { github: 'ask', slack: 'ask' }, approvers: 'members' },
    });
  });
});

describe('a rule that does not ask', () => {
  it.each(['allow', 'deny', 'inherit'] as const)('%s never names who decides: the gateway refuses that', (setting) => {
    for (const [approvers] of APPROVERS) {
      expect(oneRule('ada', 'services', 'github', setting, approvers).body).toEqual({ permission: setting });
      expect(manyRules('ada', ['github'], setting, approvers).body).toEqual({ services: { github: setting } });
    }
  });
});

it('names of users and tools stay in their part of the path', () => {
  expect(oneRule('ada@example.com', 'tools', 'a/b', 'deny', 'admins').path).toBe('/permissions/users/ada%40example.com/tools/a%2Fb');
});

it('who decides is read by kind, and is admins where nothing is said', () => {
  expect(approversOf(rules, 'services', 'github')).toBe('members');
  expect(approversOf(rules, 'services', 'slack')).toBe('admins');
  expect(approversOf(rules, 'tools', 'github_create_issue')).toBe('admins');
});

it('a limit of a tool is not its service\'s', () => {
  expect(limitOf(rules, 'services', 'github')).toBeUndefined();
  expect(limitOf(rules, 'services', 'slack')?.max_calls).toBe(3);
  expect(limitOf(rules, 'tools', 'github_create_issue')).toBeDefined();
});
