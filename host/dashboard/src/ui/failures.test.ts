import { describe, expect, it } from 'vitest';
import type { Receipt, RequestRecord } from '../api/types';
import { failureOf } from './failures';

const request = (status: number | null): RequestRecord => ({ method: 'POST', host: 'api.github.com', path: '/', status, bytes_out: 1, bytes_in: 1, duration_ms: 1 });
const receipt = (status: Receipt['status'], reason: Receipt['reason'] = null, requests: RequestRecord[] = []): Receipt => ({
  execution_id: 'exe_1', tool_name: 'github_create_issue', user_id: 'ada', key: { name: 'ci', prefix: 'a' }, status, reason, started_at: '', duration_ms: 1,
  plugin: { service: 'github', version: '1', sha256: 'x' }, requests,
});

it('a call with a result has no failure', () => {
  for (const status of ['success', 'dry_run', 'running'] as const) expect(failureOf(receipt(status))).toBeNull();
});

describe('a provider that refused', () => {
  it.each([
    [400, 'did not accept the request'],
    [403, 'refused the credential'],
    [404, 'knows nothing of that name'],
    [429, 'too many requests'],
    [503, 'it failed'],
  ])('is named with its status: %i', (status, why) => {
    const found = failureOf(receipt('error', 'provider_error', [request(200), request(status)]));
    expect(found?.code).toBe('provider_error');
    expect(found?.why).toContain(`api.github.com answered ${status}: it `);
    expect(found?.why).toContain(why);
  });
  it('is the request that was refused, not the one after it', () => {
    expect(failureOf(receipt('error', 'provider_error', [request(404), request(200)]))?.why).toContain('404');
  });
  it('may not have answered, or not have been asked', () => {
    expect(failureOf(receipt('error', 'provider_error', [request(null)]))?.why).toBe('api.github.com did not answer.');
    expect(failureOf(receipt('error', 'provider_error'))?.why).toContain('Nothing was sent');
    expect(failureOf(receipt('error', 'provider_error', [request(200)]))?.why).toContain('could not use');
  });
});

it('every failure has a code, a sentence and a next step', () => {
  const all = [
    ...(['provider_error', 'provider_rate_limited', 'provider_refused', 'not_configured', 'timeout', 'limit_exceeded', 'plugin_crashed', 'cancelled'] as const).map((reason) => receipt('error', reason)),
    // Of a gateway that was upgraded while the page was open.
    receipt('error', 'something_new' as Receipt['reason']),
    ...(['auth_required', 'auth_expired', 'approval_required', 'interrupted'] as const).map((status) => receipt(status)),
  ];
  for (const one of all) {
    const found = failureOf(one);
    expect(found?.code, one.status).toMatch(/^[a-z_]+$/);
    for (const text of [found?.why, found?.next]) expect(text, one.status).toMatch(/^(?:[A-Z]|ada |github).*\.$/);
  }
});

it('a receipt by itself has the words of the answer, its code and its advice', () => {
  const alone = { ...receipt('error', 'provider_error', [request(422)]), failure: { code: 'validation_failed', message: 'title is missing', suggested_fix: 'Correct the argument at /title.' } };
  expect(failureOf(alone)).toMatchObject({ code: 'validation_failed', words: 'title is missing', next: 'Correct the argument at /title.' });
  expect(failureOf(alone)?.why).toContain('answered 422');
  const terse = { ...alone, failure: { code: 'upstream', message: 'broken' } };
  expect(failureOf(terse)?.next).toContain('Check the arguments');
});
