import { expect, it } from 'vitest';
import { still } from './still';

const same = (row: string) => row;
const shown = (text: string) => [...text].map((row) => ({ row, gone: false }));
const after = (before: string, fresh: string, held: boolean) => {
  const { rows, waiting } = still(shown(before), [...fresh], same, held);
  return [rows.map(({ row, gone }) => (gone ? `(${row})` : row)).join(''), waiting];
};

it('a list that nobody points at is what it is now', () => {
  expect(after('abc', 'nac', false)).toEqual(['nac', 0]);
});

it('a held row keeps its place when another one leaves or comes', () => {
  expect(after('abc', 'ac', true)).toEqual(['a(b)c', 0]);
  expect(after('abc', 'nabc', true)).toEqual(['abc', 1]);
  expect(after('abc', 'mnc', true)).toEqual(['(a)(b)c', 2]);
});

it('a further page comes below', () => {
  expect(after('abc', 'nabcde', true)).toEqual(['abcde', 1]);
});

it('a list of which nothing is left is not held', () => {
  expect(after('abc', '', true)).toEqual(['', 0]);
  expect(after('abc', 'n', true)).toEqual(['n', 0]);
  expect(after('', 'n', true)).toEqual(['n', 0]);
});

it('a held row has its newest content', () => {
  const { rows } = still([{ row: { id: 'a', state: 'old' }, gone: false }], [{ id: 'a', state: 'new' }], (row) => row.id, true);
  expect(rows[0]?.row.state).toBe('new');
});
