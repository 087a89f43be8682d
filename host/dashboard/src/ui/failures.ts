// Why a call has no result, and what to do, as far as its receipt tells. A list has no words of the provider; a receipt by
// itself has those that the caller was answered.

import type { Receipt, RequestRecord } from '../api/types';

export interface Failure {
  /** Stable, as programs see it. */
  code: string;
  why: string;
  next: string;
  /** What the caller was answered, in the words of the provider or the plugin. */
  words?: string;
  /** Where the next step is taken. */
  to?: { path: string; name: string };
}

const answered = (status: number): [string, string] => {
  if (status === 401 || status === 403) return ['refused the credential, or the account may not do this', 'Look at the connection and at the rights of its account there; connect again with more rights where they are missing.'];
  if (status === 404 || status === 410) return ['knows nothing of that name or id', 'Check the ids in the arguments: they may be of another account, or gone.'];
  if (status === 409 || status === 412) return ['refused it because something else has changed meanwhile', 'Read the current state first, then repeat the change.'];
  if (status === 429) return ['has had too many requests', 'Wait, then run it again.'];
  if (status >= 500) return ['failed', 'Run it again later; for a write, look there first whether it was done.'];
  return ['did not accept the request', 'Check the arguments against what the service allows; a dry run shows what is sent.'];
};

/** The request that decided: the last one that was refused, or else the last. */
function decisive(requests: readonly RequestRecord[]): RequestRecord | undefined {
  return requests.findLast((request) => request.status == null || request.status >= 400) ?? requests.at(-1);
}

function provider(receipt: Receipt): Failure {
  const request = decisive(receipt.requests);
  const code = 'provider_error';
  if (!request) return { code, why: 'Nothing was sent: the plugin refused the call, or the service could not be reached.', next: 'Run it again: its answer says which of the two, and what to do.' };
  if (request.status == null) return { code, why: `${request.host} did not answer.`, next: 'Check that the gateway reaches it, then run it again.' };
  if (request.status < 400) return { code, why: `${request.host} answered ${request.status}, with something that the plugin could not use.`, next: 'Run it again; if that does not help, tell the author of the plugin.' };
  const [why, next] = answered(request.status);
  return { code, why: `${request.host} answered ${request.status}: it ${why}.`, next };
}

export function failureOf(receipt: Receipt): Failure | null {
  const known = fromReceipt(receipt);
  const told = receipt.failure;
  if (!known || !told) return known;
  return { ...known, code: told.code, words: told.message, next: told.suggested_fix ?? known.next };
}

function fromReceipt(receipt: Receipt): Failure | null {
  const { service } = receipt.plugin;
  const connect = { path: `/integrations/${encodeURIComponent(service)}`, name: 'Connections of this service' };
  switch (receipt.status) {
    case 'error':
      switch (receipt.reason) {
        case 'provider_rate_limited':
          return { code: receipt.reason, why: `${decisive(receipt.requests)?.host ?? service} has had too many requests.`, next: 'Wait, then run it again. An agent is told for how long.' };
        case 'not_configured':
          return { code: receipt.reason, why: `The operator has not set ${service} up.`, next: 'Set what is missing at the integration, then repeat the call.', to: connect };
        case 'provider_refused':
          return { code: receipt.reason, why: `${decisive(receipt.requests)?.host ?? service} refused this request; the connection itself works.`, next: 'Check whether the connected account may do this, and use another account if it may not.', to: connect };
        case 'timeout':
          return { code: receipt.reason, why: 'It took longer than a call may take.', next: 'Ask for less at a time; for a write, look at the service first whether it was done.' };
        case 'limit_exceeded':
          return { code: receipt.reason, why: 'An answer was larger, or the work longer, than a call may be.', next: 'Ask for less: a filter, fewer fields, a smaller page.' };
        case 'plugin_crashed':
          return { code: receipt.reason, why: `The plugin of ${service} crashed.`, next: 'Run it again; if it crashes again, tell its author, or roll it back.', to: { path: `/plugins/${encodeURIComponent(service)}`, name: 'This plugin' } };
        case 'cancelled':
          return { code: receipt.reason, why: 'The caller did not wait for the result, so the request to the provider was ended.', next: 'Run it again if the result is still wanted.' };
        default:
          return provider(receipt);
      }
    case 'auth_required':
      return { code: receipt.status, why: `${receipt.user_id} has not connected ${service}.`, next: 'Open a connect link, then repeat the call.', to: connect };
    case 'auth_expired':
      return { code: receipt.status, why: `The connection of ${receipt.user_id} to ${service} has expired or was revoked.`, next: 'Connect it again, then repeat the call.', to: connect };
    case 'approval_required':
      return { code: receipt.status, why: 'A rule says that a person has to approve this call.', next: 'Approve it; the agent then repeats the call.', to: { path: '/approvals', name: 'Approvals' } };
    case 'interrupted':
      return { code: receipt.status, why: 'The gateway stopped while this call ran.', next: 'What left is below. Look at the service whether a write was done before you repeat it.' };
    default:
      return null;
  }
}
