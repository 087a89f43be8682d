// The one error a tool answers with, and how a provider's HTTP answer becomes one. The rules are
// those of sdk/plugins/rust/src/http/problem.rs; sdk/plugins/problems.json holds both to them.

/** Longest text taken from a provider's answer, in characters. */
const TEXT_CHARS_MAX = 500;
/** Largest JSON answer passed on as `details`, in characters. */
const DETAILS_CHARS_MAX = 8 * 1024;

/** Why a tool has no result. The host scrubs and cuts every text in it. */
export class ToolError extends Error {
  constructor(kind, message, more = {}) {
    super(message);
    this.name = 'ToolError';
    this.kind = kind;
    this.code = more.code;
    this.retryAfterMs = more.retryAfterMs;
    this.httpStatus = more.httpStatus;
    this.field = more.field;
    this.details = more.details;
  }

  /** The caller's mistake; `field` is a JSON Pointer into the arguments, empty for all of them. */
  static invalid(field, message) {
    return new ToolError('invalid-arguments', message, { field: field || undefined });
  }

  static notFound(message) {
    return new ToolError('not-found', message);
  }

  /** An answer of the provider that cannot be used. */
  static upstream(message) {
    return new ToolError('upstream', message);
  }

  static internal(message) {
    return new ToolError('internal', message);
  }
}

/** The kind that a status means (RFC 9110, section 15). A 403 with a wait is a rate limit. */
export function kindOf(status, headers) {
  const exhausted = headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0';
  switch (status) {
    case 400: case 422: return 'invalid-arguments';
    case 401: return 'auth-expired';
    case 403: return exhausted ? 'rate-limited' : 'permission-denied';
    case 402: return 'permission-denied';
    case 404: case 410: return 'not-found';
    case 409: case 412: return 'conflict';
    case 413: return 'too-large';
    case 429: return 'rate-limited';
    case 408: case 502: case 503: case 504: return 'unavailable';
    default: return 'upstream';
  }
}

const MESSAGE_AT = [
  ['error', 'message'], ['error_description'], ['error_message'], ['message'], ['errorMessages', 0],
  ['errors', 0, 'message'], ['errors', 0, 'detail'], ['detail'], ['detail', 0, 'msg'], ['exception_detail', 0, 'msg'], ['msg'],
  ['fault', 'faultstring'], ['description'], ['reason'], ['errors', 0], ['title'], ['error'],
];
const CODE_AT = [
  ['error', 'code'], ['error_code'], ['errcode'], ['code'], ['error', 'status'], ['errorType'], ['errors', 0, 'code'],
];

// Strings are not indexed: a number would select one of their characters.
const at = (value, path) => path.reduce((inner, step) => (typeof inner === 'object' ? inner?.[step] : undefined), value);
const cut = (text) => ([...text].length > TEXT_CHARS_MAX ? [...text].slice(0, TEXT_CHARS_MAX).join('') + '…' : text);

/** The error that an error response means, with the provider's own message. `text` is its body. */
export function problem(response, text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const providerMessage = MESSAGE_AT.map((path) => at(body, path)).find((found) => typeof found === 'string' && found.trim());
  const code = CODE_AT.map((path) => at(body, path)).find((found) => ['string', 'number'].includes(typeof found));
  const plain = text.trim();
  const isPlainText = body === undefined && plain !== '' && !plain.startsWith('<');
  const isPage = /^(<!doctype html|<html)/i.test(plain);
  const message = providerMessage || (isPage && title(plain)) || (isPlainText ? plain : `the provider answered with status ${response.status}`);
  const kind = kindOf(response.status, response.headers);
  // A page that blocks says nothing about the rights of the account.
  return new ToolError(isPage && kind === 'permission-denied' ? 'upstream' : kind, cut(message), {
    code: code === undefined ? undefined : cut(String(code)),
    httpStatus: response.status,
    retryAfterMs: retryAfterMs(response.headers),
    details: text.length <= DETAILS_CHARS_MAX ? body : undefined,
  });
}

/** The title of an HTML page, in one line. */
const title = (page) => (/<title[^>]*>([^]*?)<\/title/i.exec(page)?.[1] ?? '').split(/\s+/).filter(Boolean).join(' ').slice(0, 200);

/** `Retry-After` in seconds (RFC 9110, section 10.2.3); the host has written dates and moments as seconds. At most one day. */
function retryAfterMs(headers) {
  const seconds = Number(headers.get('retry-after')?.trim() || NaN);
  return seconds >= 0 ? Math.round(Math.min(seconds, 86_400) * 1000) : undefined;
}
