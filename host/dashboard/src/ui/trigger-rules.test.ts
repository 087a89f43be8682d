import { describe, expect, it } from 'vitest';
import type { Webhook } from '../api/types';
import { chosenSchema, every, intervals, isSent } from './trigger-rules';

const trigger = { event: 'trigger.gitlab.new_issue', service: 'gitlab', user_id: 'ada' };
const webhook = (change: Partial<Webhook>) => ({ enabled: true, events: ['*'], filters: {}, ...change });

describe('the events of a trigger are sent', () => {
  it.each(['*', 'trigger.*', 'trigger.gitlab.*', 'trigger.gitlab.new_issue'])('to a webhook for %s', (pattern) => {
    expect(isSent(webhook({ events: ['tool.*', pattern] }), trigger, 'gitlab_list_issues')).toBe(true);
  });
  it.each(['tool.*', 'trigger.github.*', 'trigger.gitlab.new', 'trigger.gitlab.new_issues'])('not to a webhook for %s', (pattern) => {
    expect(isSent(webhook({ events: [pattern] }), trigger, 'gitlab_list_issues')).toBe(false);
  });
  it('not to a webhook that is off', () => {
    expect(isSent(webhook({ enabled: false }), trigger, 'gitlab_list_issues')).toBe(false);
  });
  it.each([
    [{ user_ids: ['ada'] }, true],
    [{ user_ids: ['bob'] }, false],
    [{ services: ['gitlab', 'jira'] }, true],
    [{ services: ['jira'] }, false],
    [{ tool_names: ['gitlab_list_issues'] }, true],
    [{ tool_names: ['gitlab_get_issue'] }, false],
    [{ user_ids: [], services: null }, true],
  ])('as the filters %j say', (filters, sent) => {
    expect(isSent(webhook({ filters }), trigger, 'gitlab_list_issues')).toBe(sent);
  });
});

it('what the trigger sets is not there to choose', () => {
  const input = { type: 'object', properties: { id: { type: 'string' }, sort: {}, cursor: {} }, required: ['id', 'sort'] };
  expect(chosenSchema(input, { sets: ['cursor', 'sort'] })).toEqual({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] });
});

it.each([[60, 'every minute'], [300, 'every 5 minutes'], [90, 'every 90 seconds'], [3_600, 'every hour'], [172_800, 'every 2 days']])('%i seconds are said in words', (interval_s, words) => {
  expect(every(interval_s)).toBe(words);
});

it('the interval of the plugin is among those to choose, once and in its place', () => {
  expect(intervals(300)).toHaveLength(6);
  expect(intervals(600).slice(1, 4)).toEqual([300, 600, 900]);
});
