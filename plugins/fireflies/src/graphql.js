// One door for every tool: a GraphQL operation in, its data out, Fireflies' errors as the gateway's.

import { ToolError, problem } from 'toolgate-plugin';

const ADDRESS = 'https://api.fireflies.ai/graphql';

/** What Fireflies' error codes mean. */
const KINDS = {
  account_cancelled: 'permission-denied',
  auth_failed: 'auth-expired',
  invalid_auth: 'auth-expired',
  args_required: 'invalid-arguments',
  invalid_arguments: 'invalid-arguments',
  BAD_USER_INPUT: 'invalid-arguments',
  object_not_found: 'not-found',
  paid_required: 'permission-denied',
  require_elevated_privilege: 'permission-denied',
  not_in_team: 'permission-denied',
  require_ai_credits: 'permission-denied',
  too_many_requests: 'rate-limited',
  payload_too_small: 'invalid-arguments',
};

/** The `data` of one operation. Errors come with 200 and with other statuses; both look the same here. */
export async function graphql(cx, query, variables) {
  const response = await cx.fetch(ADDRESS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw response.ok ? ToolError.upstream('Fireflies answered with something that is not JSON') : problem(response, text);
  }
  const [error] = answer.errors ?? [];
  if (error) throw told(error, response, cx);
  if (!response.ok) throw problem(response, text);
  return answer.data;
}

function told(error, response, cx) {
  const code = error.code ?? error.extensions?.code;
  // When a limit ends is said in the error itself, as a time.
  const until = Number(error.extensions?.metadata?.retryAfter);
  return new ToolError(KINDS[code] ?? 'upstream', error.message, {
    code,
    httpStatus: response.status,
    retryAfterMs: until > 0 ? Math.max(0, until - cx.nowMs()) : undefined,
  });
}

/** Without what is null or empty. */
export const filled = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)));
