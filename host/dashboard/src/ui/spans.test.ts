import { expect, it } from 'vitest';
import type { RequestRecord } from '../api/types';
import { spans } from './spans';

const request = (started_ms: number | null, duration_ms: number): RequestRecord => ({ method: 'GET', host: 'a.test', path: '/', status: 200, bytes_out: 0, bytes_in: 1, started_ms, duration_ms });
const places = (requests: RequestRecord[], total: number) => spans(requests, total)?.map(({ left, width }) => [left, width]);

it('requests lie where they were, also beside each other', () => {
  expect(places([request(0, 50), request(50, 100), request(50, 25)], 200)).toEqual([[0, 25], [25, 50], [25, 12.5]]);
});

it('nothing is drawn outside, and nothing is too small to see', () => {
  expect(places([request(999, 0)], 1000)).toEqual([[99.25, 0.75]]);
  expect(places([request(10, 90)], 50)).toEqual([[10, 90]]);
  expect(places([request(0, 0)], 0)).toEqual([[0, 0.75]]);
});

it('keeps what it is given beside its place', () => {
  expect(spans([{ tool: 'a_b', started_ms: 5, duration_ms: 5 }], 10)).toEqual([{ request: { tool: 'a_b', started_ms: 5, duration_ms: 5 }, left: 50, width: 50 }]);
});

it('a receipt that does not say when is not drawn', () => {
  expect(spans([request(0, 1), request(null, 1)], 10)).toBeNull();
  expect(spans([], 10)).toBeNull();
});
