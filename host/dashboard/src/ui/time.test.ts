import { describe, expect, it } from 'vitest';
import { ago, bytes, duration, plural } from './time';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

describe('how long ago', () => {
  it.each([
    [0, 'just now'],
    [-59, 'just now'],
    [-60, '1 min. ago'],
    [-3_599, '59 min. ago'],
    [-7_200, '2 hr. ago'],
    [-86_400, 'yesterday'],
    [30, 'in a moment'],
    [600, 'in 10 min.'],
  ])('%i s is %s', (seconds, said) => {
    expect(ago(at(seconds), NOW)).toBe(said);
  });
});

it('durations and sizes have a unit', () => {
  expect([duration(null), duration(0.4), duration(999), duration(1_500), duration(61_000)]).toEqual(['none', '0 ms', '999 ms', '1.5 s', '1 min']);
  expect([bytes(undefined), bytes(0), bytes(1_023), bytes(2_048), bytes(3 * 1_048_576)]).toEqual(['unknown', '0 B', '1023 B', '2.0 KB', '3.0 MB']);
  expect([plural(1, 'call'), plural(2, 'call'), plural(1_200, 'query', 'queries')]).toEqual(['1 call', '2 calls', '1,200 queries']);
});
