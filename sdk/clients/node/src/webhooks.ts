/** Deliveries of events, verified as Standard Webhooks describes (https://www.standardwebhooks.com). */

import { createHmac, timingSafeEqual } from "node:crypto";

import { WebhookVerificationError } from "./errors.js";

/** How old, or how much in the future, a delivery may be. */
export const TOLERANCE_S = 300;

export interface VerifyOptions {
  toleranceS?: number;
  /** Seconds since the Unix epoch; the machine's clock if absent. */
  now?: number;
}

/** Headers as `fetch`, Node's `http` and most frameworks have them. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

/**
 * The event of a delivery, if its signature is right and it is not too old.
 *
 * `payload` is the body as it arrived, not parsed and written again. Refuse what throws
 * `WebhookVerificationError` with status 400.
 */
export function verify(
  payload: string | Uint8Array,
  headers: HeadersLike,
  secret: string,
  options: VerifyOptions = {},
): Record<string, unknown> {
  const body = typeof payload === "string" ? Buffer.from(payload, "utf8") : Buffer.from(payload);
  const given = lowerCased(headers);
  const header = (name: string): string => {
    const value = given.get(name);
    if (value === undefined) throw new WebhookVerificationError(`the header ${name} is missing`);
    return value;
  };
  const [id, sentAt, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (!/^[0-9]{1,12}$/.test(sentAt)) {
    throw new WebhookVerificationError("webhook-timestamp is not a number of seconds");
  }
  const now = options.now ?? Date.now() / 1000;
  if (Math.abs(now - Number(sentAt)) > (options.toleranceS ?? TOLERANCE_S)) {
    throw new WebhookVerificationError("webhook-timestamp is too far from now");
  }
  const expected = createHmac("sha256", key(secret)).update(`${id}.${sentAt}.`).update(body).digest();
  // Several signatures are sent while a secret is being replaced.
  const matches = signatures.split(" ").some((part) => {
    const [version, text] = [part.slice(0, part.indexOf(",")), part.slice(part.indexOf(",") + 1)];
    const offered = decoded(text);
    return version === "v1" && offered?.length === expected.length && timingSafeEqual(offered, expected);
  });
  if (!matches) throw new WebhookVerificationError("no signature matches");
  return event(body);
}

function lowerCased(headers: HeadersLike): Map<string, string> {
  const entries = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  const single = entries.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value[0] : value] as const);
  return new Map(single.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}

/** Strict, unlike `Buffer.from`, which leaves out what is not base64. */
function decoded(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, "base64");
}

function key(secret: string): Buffer {
  const key = decoded(secret.startsWith("whsec_") ? secret.slice(6) : secret);
  if (!key || key.length === 0) throw new WebhookVerificationError("the secret is not whsec_ and base64");
  return key;
}

function event(body: Buffer): Record<string, unknown> {
  let read: unknown;
  try {
    read = JSON.parse(body.toString("utf8"));
  } catch {
    throw new WebhookVerificationError("the body is not JSON");
  }
  if (typeof read !== "object" || read === null || Array.isArray(read)) {
    throw new WebhookVerificationError("the body is not an event");
  }
  return read as Record<string, unknown>;
}
