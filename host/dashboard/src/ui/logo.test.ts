import { expect, it, vi } from 'vitest';

vi.stubGlobal('LOGOS', { folder: '/assets/logos-1', services: ['github'] });
const { initials, tint } = await import('./logo');

it.each([['Open-Meteo', 'OM'], ['Slack', 'Sl'], ['Microsoft Teams', 'MT'], ['s3', 's3'], ['  ', '?'], ['Ärzte ohne', 'ÄO'], ['& Sons', 'So']])('the letters of %s are %s', (title, letters) => {
  expect(initials(title)).toBe(letters);
});

it('a name has one of six colours, and always the same', () => {
  const all = ['slack', 'twilio', 'microsoft_teams', 'plaid', 'wrike', 'stripe', 'svix', 'ynab', 'exa'].map(tint);
  expect(all.every((one) => one >= 0 && one < 6)).toBe(true);
  expect(new Set(all).size).toBeGreaterThan(2);
  expect(tint('slack')).toBe(tint('slack'));
});
