import { expect, it } from 'vitest';
import type { Receipt } from '../api/types';
import { csv } from './export';

const row = (user_id: string, name = 'ci'): Receipt => ({
  execution_id: 'exe_1', tool_name: 'github_create_issue', user_id, key: { name, prefix: 'a1B2' }, status: 'error', reason: 'provider_error', started_at: '2026-11-20T09:30:00.125Z', duration_ms: 12,
  plugin: { service: 'github', version: '1', sha256: 'x' }, requests: [{ method: 'POST', host: 'a.test', path: '/', status: 422, bytes_out: 1, bytes_in: 1, duration_ms: 1 }],
});

it('a receipt is one row, with the status of its last request', () => {
  const [head, first, end] = csv([row('ada')]).split('\r\n');
  expect(head?.split(',')).toHaveLength(12);
  expect(first).toBe('exe_1,2026-11-20T09:30:00.125Z,github_create_issue,github,ada,ci,a1B2,error,provider_error,12,1,422');
  expect(end).toBe('');
});

it.each([['a "b", c', '"a ""b"", c"'], ['=cmd()', "'=cmd()"], ['@sum', "'@sum"], ['+1', "'+1"], ['two\nlines', '"two\nlines"']])('%s is a text in a spreadsheet', (name, written) => {
  expect(csv([row('ada', name)])).toContain(`ada,${written},a1B2`);
});
