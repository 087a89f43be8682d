/** What needs no client: requests, answers, when to retry. */

import { byStatus, APIError, ConnectionFailed, InvalidResponse, RedirectRefused, Timeout, ToolgateError } from "./errors.js";
import { ROUTES, type Operation, type Route } from "./routes.js";
import { VERSION } from "./version.js";

export const USER_AGENT = `toolgate-node/${VERSION}`;
export const DEFAULT_URL = "http://127.0.0.1:8080";
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 8_000;
/** How the headers that a caller can set are called as values. */
export const HEADERS: Record<string, string> = {
  "Idempotency-Key": "idempotency_key",
  "If-None-Match": "if_none_match",
  "If-Match": "if_match",
};

export type Values = Record<string, unknown>;

export interface Request {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Whether it may be sent again although the first try may have been executed. */
  repeatable: boolean;
  /** Whether a good answer is a text and no envelope. */
  isText: boolean;
}

export interface Answer {
  data: unknown;
  request_id: string;
}

/** Checked here, because an HTTP library that refuses a header may print its value. */
export function checkKey(apiKey: string | undefined): string {
  if (!apiKey) throw new TypeError("no API key: pass apiKey or set TOOLGATE_API_KEY");
  if (!/^[!-~]{1,512}$/.test(apiKey)) throw new TypeError("the API key has characters that no key has");
  return apiKey;
}

export function checkUrl(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError("baseUrl must be an http or https address");
  }
  if (!["http:", "https:"].includes(url.protocol)) throw new TypeError("baseUrl must be an http or https address");
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl must have no user, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

/** The request of an operation. A value that is `undefined` or `null` is not sent. */
export function request(baseUrl: string, operation: Operation, values: Values): Request {
  const route: Route = ROUTES[operation];
  const given = new Map(Object.entries(values).filter(([, value]) => value !== undefined && value !== null));
  const take = (name: string): unknown => {
    const value = given.get(name);
    given.delete(name);
    return value;
  };
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, take(name)));
  const headers: Record<string, string> = { accept: "application/json", "user-agent": USER_AGENT };
  let repeatable = route.method === "GET";
  for (const header of route.header) {
    let value = take(HEADERS[header] ?? header);
    if (header === "Idempotency-Key") {
      // Made once and sent with every try, so that a call whose answer was lost is not executed twice.
      value ??= crypto.randomUUID();
      repeatable = true;
    }
    if (value !== undefined) headers[header.toLowerCase()] = String(value);
  }
  const query = new URLSearchParams();
  for (const name of route.query) {
    const value = take(name);
    if (value !== undefined) query.set(name, String(value));
  }
  let body: string | undefined;
  if (route.method !== "GET" && route.method !== "DELETE") {
    const fields = route.body.map((name) => [name, take(name)] as const).filter(([, value]) => value !== undefined);
    body = JSON.stringify(Object.fromEntries(fields));
    headers["content-type"] = "application/json";
  }
  if (given.size > 0) throw new TypeError(`${operation} takes no ${[...given.keys()].join(", ")}`);
  const search = query.size > 0 ? `?${query}` : "";
  const isText = operation === "get_tool_types";
  return { method: route.method, url: `${baseUrl}${path}${search}`, headers, body, repeatable, isText };
}

function segment(name: string, value: unknown): string {
  const text = String(value ?? "");
  // All three would change which path is meant.
  if (["", ".", ".."].includes(text)) throw new TypeError(`${name} must not be '${text}'`);
  return encodeURIComponent(text);
}

/** Sends a request once and reads the whole answer within `timeoutMs`. */
export async function send(request: Request, authorization: string, timeoutMs: number, fetchFn: typeof fetch): Promise<Answer> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await fetchFn(request.url, {
      method: request.method,
      headers: { ...request.headers, authorization },
      body: request.body ?? null,
      redirect: "manual",
      signal: abort.signal,
    });
    return answer(response.status, response.headers, await text(response), request.isText);
  } catch (error) {
    if (error instanceof ToolgateError) throw error;
    if (abort.signal.aborted) throw new Timeout(`no whole answer within ${timeoutMs} ms`);
    const code = (error as { cause?: { code?: unknown } }).cause?.code;
    throw new ConnectionFailed(`no answer from ${new URL(request.url).origin}${code ? ` (${String(code)})` : ""}`);
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

async function text(response: Response): Promise<string> {
  const decoder = new TextDecoder("utf-8");
  let [read, bytes] = ["", 0];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new InvalidResponse(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
    read += decoder.decode(chunk, { stream: true });
  }
  return read + decoder.decode();
}

/** Reads an answer, or throws the error in it. `isText`: a good answer is a text and no envelope. */
export function answer(status: number, headers: Headers, body: string, isText = false): Answer {
  const request_id = headers.get("x-request-id") ?? undefined;
  const retry_after = retryAfter(headers);
  if (status === 304) return { data: null, request_id: request_id ?? "" };
  if (status >= 300 && status < 400) {
    throw new RedirectRefused(`the server answers ${status} to ${hostOf(headers.get("location"))}`, { status, request_id });
  }
  if (isText && status >= 200 && status < 300 && headers.get("content-type")?.startsWith("text/plain")) {
    return { data: body, request_id: request_id ?? "" };
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  const envelope = fields(parsed);
  const id = fields(envelope["meta"])["request_id"];
  if (envelope["success"] === true && "data" in envelope && typeof id === "string" && status >= 200 && status < 300) {
    return { data: envelope["data"], request_id: id };
  }
  const error = fields(envelope["error"]);
  const { code, message } = error;
  if (envelope["success"] !== false || typeof code !== "string" || typeof message !== "string" || typeof id !== "string") {
    // A proxy answered, or the server is not toolgate.
    const can_retry = [429, 502, 503, 504].includes(status);
    throw new InvalidResponse(`the answer with status ${status} is not the API's JSON`, { status, request_id, can_retry, retry_after });
  }
  throw new (byStatus(status))(message, {
    code,
    status,
    request_id: id,
    can_retry: status === 429 || status >= 500 || code === "in_progress",
    retry_after,
    hint: typeof error["hint"] === "string" ? error["hint"] : undefined,
    details: fields(error["details"]),
  });
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function hostOf(location: string | null): string {
  try {
    return new URL(location ?? "").host;
  } catch {
    return "another path";
  }
}

/** Seconds. A date counts as absent: the server never sends one. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after") ?? "";
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Milliseconds to wait before the next try, or `undefined` if the error is to be thrown.
 *
 * A request that was refused with 429 or 503 was not executed and may always be repeated; any other one only if it
 * is repeatable.
 */
export function waitBeforeRetry(
  request: Request,
  error: ToolgateError,
  tries: number,
  maxRetries: number,
  maxRetryWaitMs: number,
): number | undefined {
  if (tries >= maxRetries || !error.can_retry) return undefined;
  const refused = error instanceof APIError && (error.status === 429 || error.status === 503);
  if (!request.repeatable && !refused) return undefined;
  const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** tries) * (0.5 + Math.random() / 2);
  const wait = error.retry_after === undefined ? backoff : error.retry_after * 1000;
  return wait > maxRetryWaitMs ? undefined : wait;
}
