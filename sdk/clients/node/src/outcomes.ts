/** How an execution ended: a union by `status`, in which only a success has a `result`. */

import type { operations, Execution } from "./api.js";
import { InvalidResponse } from "./errors.js";

type Body = operations["execute_tool"]["requestBody"]["content"]["application/json"];

/** A call as it was made, so that it can be made again. */
export interface ExecuteCall extends Omit<Body, "retry_unknown"> {
  tool_name: string;
  idempotency_key?: string;
}

/** What every outcome has in addition to the API's answer: the request's id, and the call. */
export interface ExecutionInfo {
  readonly request_id: string;
  readonly call: ExecuteCall;
}

/**
 * How a call ended. Look at `status`:
 *
 * - `success`: `result`; `truncated` says where the rest of a large one is.
 * - `error`: the provider refused or a limit was met; `error` says what and whether to try again.
 * - `auth_required`, `auth_expired`: `connect_url` is for the user; see `client.waitForConnection`.
 * - `approval_required`: a person has to allow it; see `client.waitForApproval`.
 * - `dry_run`: nothing was sent; `requests` would have been.
 */
export type Outcome = Execution & ExecutionInfo;
export type Success = Extract<Outcome, { status: "success" }>;
export type ProviderError = Extract<Outcome, { status: "error" }>;
export type AuthRequired = Extract<Outcome, { status: "auth_required" | "auth_expired" }>;
export type ApprovalRequired = Extract<Outcome, { status: "approval_required" }>;
export type DryRun = Extract<Outcome, { status: "dry_run" }>;

const COMMON = ["execution_id", "tool_name", "service", "session_id", "duration_ms"];
const FIELDS: Record<Outcome["status"], string[]> = {
  success: ["result"],
  error: ["reason", "error"],
  auth_required: ["auth_type", "message"],
  auth_expired: ["auth_type", "message"],
  approval_required: ["message", "approval_id", "approval_url", "expires_at", "requests"],
  dry_run: ["requests"],
};

/** Reads the answer of execute. */
export function outcome(data: unknown, request_id: string, call: ExecuteCall): Outcome {
  const fields = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
  const status = String(fields["status"]);
  if (!Object.hasOwn(FIELDS, status)) {
    throw new InvalidResponse(`the outcome ${status} is unknown: update this package`, { request_id });
  }
  for (const field of [...COMMON, ...FIELDS[status as Outcome["status"]]]) {
    if (!(field in fields)) {
      throw new InvalidResponse(`the outcome lacks ${field}`, { request_id });
    }
  }
  const found = { ...fields, request_id };
  // Not enumerable, so that it is neither printed nor written as JSON: arguments are the user's own data.
  Object.defineProperty(found, "call", { value: call, enumerable: false });
  return found as unknown as Outcome;
}
