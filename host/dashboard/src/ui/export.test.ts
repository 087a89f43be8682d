import { expect, it } from 'vitest';
import type { AuditEntry, Receipt } from '../api/types';
import { auditCsv, csv, jsonLines } from './export';

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

it('an entry of the audit log is one row, or one line', () => {
  const entry: AuditEntry = { entry_id: 'aud_1', at: '2026-11-20T09:30:00.125Z', actor: 'member:mem_1', actor_name: '=Ada', action: 'keys.create', subject: 'key_1', details: { name: 'a,b' } };
  const [head, first, end] = auditCsv([entry]).split('\r\n');
  expect(head).toBe('entry_id,at,actor,actor_name,action,subject,details,address,request_id');
  expect(first).toBe(`aud_1,2026-11-20T09:30:00.125Z,member:mem_1,'=Ada,keys.create,key_1,"{""name"":""a,b""}",,`);
  expect(end).toBe('');
  expect(jsonLines([entry, entry]).split('\n').filter(Boolean).map((line) => JSON.parse(line))).toEqual([entry, entry]);
});
