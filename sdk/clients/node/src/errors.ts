/** What can go wrong, as types a program can act on. No error holds the API key. */

/** What an error holds in addition to its message. */
export interface ErrorFacts {
  /** Stable; of the API's document, or of this package. */
  code?: string;
  /** HTTP status, where there was an answer. */
  status?: number | undefined;
  /** Finds the request in the server's log. */
  request_id?: string | undefined;
  /** Whether the same call may succeed later. */
  can_retry?: boolean | undefined;
  /** Seconds to wait, where the server named them. */
  retry_after?: number | undefined;
  /** The next step, where there is one. */
  hint?: string | undefined;
  details?: Record<string, unknown> | undefined;
}

/** How many violations a message lists; `details` has all of them. */
const VIOLATIONS_MAX = 5;

/** What is wrong with the arguments, by JSON Pointer. */
function violations(details: Record<string, unknown> | undefined): string {
  const found = Array.isArray(details?.["violations"]) ? (details["violations"] as unknown[]) : [];
  const texts = found.flatMap((one) => {
    if (typeof one !== "object" || one === null) return [];
    const { path, message } = one as { path?: unknown; message?: unknown };
    return [`${path || "/"}: ${message}`];
  });
  const more = texts.length > VIOLATIONS_MAX ? [`and ${texts.length - VIOLATIONS_MAX} more`] : [];
  return [...texts.slice(0, VIOLATIONS_MAX), ...more].join("; ");
}

/** Every failure of a call. */
export class ToolgateError extends Error {
  readonly code: string;
  readonly status: number | undefined;
  readonly request_id: string | undefined;
  readonly can_retry: boolean;
  readonly retry_after: number | undefined;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown>;
  /** The server's own message; `message` adds code, violations, hint and request id. */
  readonly server_message: string;

  constructor(message: string, facts: ErrorFacts = {}) {
    const code = facts.code ?? "error";
    const hint = facts.hint ? ` ${facts.hint}` : "";
    const id = facts.request_id ? ` (${facts.request_id})` : "";
    const wrong = violations(facts.details);
    super(`${code}: ${message}${wrong && ` (${wrong})`}${hint}${id}`);
    this.name = new.target.name;
    this.server_message = message;
    this.code = code;
    this.status = facts.status;
    this.request_id = facts.request_id;
    this.can_retry = facts.can_retry ?? false;
    this.retry_after = facts.retry_after;
    this.hint = facts.hint;
    this.details = facts.details ?? {};
  }
}

/** The server refused or failed; `code` is one of the codes of its document. */
export class APIError extends ToolgateError {}
/** 400, 405, 413 or 415: the request has to change. `details` names what is wrong. */
export class InvalidRequest extends APIError {}
/** 401: no key, or one that is unknown, expired or revoked. */
export class AuthenticationError extends APIError {}
/** 403: the key or the user may not do this. */
export class PermissionDenied extends APIError {}
/** 404: no such tool, Skill, session, or whatever was named. */
export class NotFound extends APIError {}
/** 409: a stale version, or an idempotency key that is in use. */
export class Conflict extends APIError {}
/** 429: too many requests; `retry_after` says when there is room again. */
export class RateLimited extends APIError {}
/** 500 or 503: the server failed, or is starting, stopping or busy. */
export class ServerError extends APIError {}

/** No answer: the server is down, or the connection broke. */
export class ConnectionFailed extends ToolgateError {
  constructor(message: string) {
    super(message, { code: "connection_failed", can_retry: true });
  }
}

/** No whole answer within the client's `timeoutMs`. */
export class Timeout extends ToolgateError {
  constructor(message: string) {
    super(message, { code: "timeout", can_retry: true });
  }
}

/** The answer is not what the API answers: broken JSON, a proxy's page, too large. */
export class InvalidResponse extends ToolgateError {
  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { ...facts, code: "invalid_response" });
  }
}

/** The server answered with a redirect. The client does not follow it: the key is for one origin only. */
export class RedirectRefused extends ToolgateError {
  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { ...facts, code: "redirect_refused" });
  }
}

/** The user did not connect, or nobody decided, in the time that was given. */
export class WaitTimeout extends ToolgateError {
  constructor(message: string) {
    super(message, { code: "wait_timeout", can_retry: true });
  }
}

/** The delivery does not come from the server, was changed, or is too old. Answer it with 400. */
export class WebhookVerificationError extends ToolgateError {
  constructor(message: string) {
    super(message, { code: "invalid_signature" });
  }
}

/** The class for a status of the API. */
export function byStatus(status: number): typeof APIError {
  switch (status) {
    case 400:
    case 405:
    case 413:
    case 415:
      return InvalidRequest;
    case 401:
      return AuthenticationError;
    case 403:
      return PermissionDenied;
    case 404:
      return NotFound;
    case 409:
      return Conflict;
    case 429:
      return RateLimited;
    default:
      return status >= 500 ? ServerError : APIError;
  }
}
