// Speaking with `/internal`: the envelope, the CSRF header, one shared refresh. Everything that is
// asked of the gateway goes through `call`; nothing here knows a page.

/** What the gateway said when it refused, with its next step. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly details: Record<string, unknown> | null,
    readonly requestId: string | null,
    readonly retryAfterS: number | null = null,
  ) {
    super(message);
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | null | undefined>;

interface Options {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type SignedOut = () => void;
let onSignedOut: SignedOut = () => {};

/** Who is told when a sign-in has ended for good; answers who was told so far. */
export function whenSignedOut(listener: SignedOut): SignedOut {
  const before = onSignedOut;
  onSignedOut = listener;
  return before;
}

/** Only the gateway's own word ends a sign-in: a gateway that starts again and a proxy without one say nothing of it. */
type Refreshed = 'renewed' | 'refused' | 'unreachable';
let refreshing: Promise<Refreshed> | null = null;

/** Renews the sign-in, once for all who wait; where it has ended, tells who wanted to know. */
export function refresh(): Promise<Refreshed> {
  refreshing ??= fetch('/internal/refresh', { method: 'POST', headers: { 'x-toolgate-dashboard': '1' } })
    .then(
      (response): Refreshed => (response.ok ? 'renewed' : response.status === 401 ? 'refused' : 'unreachable'),
      (): Refreshed => 'unreachable',
    )
    .then((refreshed) => {
      refreshing = null;
      if (refreshed === 'refused') onSignedOut();
      return refreshed;
    });
  return refreshing;
}

/** Whether a request that was refused for want of a sign-in is worth sending again. */
async function renewed(): Promise<boolean> {
  const refreshed = await refresh();
  if (refreshed === 'unreachable') throw unreachable();
  return refreshed === 'renewed';
}

export function address(path: string, query?: Query): string {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value != null && value !== '');
  const search = new URLSearchParams(entries.map(([key, value]) => [key, String(value)]));
  return `/internal${path}${entries.length > 0 ? `?${search}` : ''}`;
}

/** One request to `/internal{path}`; answers `data`, throws an `ApiError`. */
export async function call<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  return read<T>(await respond(method, path, options));
}

/** The answer as it comes, asked for again where the sign-in had to be renewed. */
export async function respond(method: Method, path: string, options: Options = {}): Promise<Response> {
  const response = await send(method, path, options);
  if (response.status !== 401 || !wantsSignIn(await response.clone().text())) return response;
  return (await renewed()) ? send(method, path, options) : response;
}

async function send(method: Method, path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (method !== 'GET') headers['x-toolgate-dashboard'] = '1';
  const init: RequestInit = { method, headers, credentials: 'same-origin' };
  if (options.body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(options.body);
  }
  if (options.signal) init.signal = options.signal;
  try {
    return await fetch(address(path, options.query), init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw unreachable();
  }
}

function wantsSignIn(text: string): boolean {
  return parsed(text)?.error?.code === 'sign_in_required';
}

function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export async function read<T>(response: Response): Promise<T> {
  const retryAfter = Number(response.headers.get('retry-after')) || null;
  return unwrap<T>(response.status, response.headers.get('x-request-id'), await response.text(), retryAfter);
}

export function unreachable(): ApiError {
  const hint = 'Check that `toolgate serve` is running, then try again.';
  return new ApiError(0, 'unreachable', 'The gateway does not answer.', hint, null, null);
}

export function unwrap<T>(status: number, requestId: string | null, text: string, retryAfter: number | null): T {
  const body = parsed(text);
  if (body?.success === true) return body.data as T;
  const error = body?.error ?? {};
  throw new ApiError(
    status,
    error.code ?? 'unexpected_answer',
    error.message ?? `The gateway answered ${status} without an explanation.`,
    error.hint ?? null,
    error.details ?? null,
    body?.meta?.request_id ?? requestId,
    retryAfter,
  );
}

/** Sends a file with its progress, from 0 to 1; once more where the sign-in had to be renewed. */
export async function upload<T>(path: string, file: Blob, progress: (share: number) => void, type = 'application/wasm'): Promise<T> {
  let sent = await post(path, file, progress, type);
  if (sent.status === 401 && wantsSignIn(sent.responseText) && (await renewed())) sent = await post(path, file, progress, type);
  return unwrap<T>(sent.status, sent.getResponseHeader('x-request-id'), sent.responseText, null);
}

/** `fetch` cannot tell how much has left. */
function post(path: string, file: Blob, progress: (share: number) => void, type: string): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', address(path));
    request.setRequestHeader('content-type', type);
    request.setRequestHeader('x-toolgate-dashboard', '1');
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => reject(unreachable());
    request.onload = () => resolve(request);
    request.send(file);
  });
}
