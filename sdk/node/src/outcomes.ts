/** What became of an execution: a union by `status`, in which `result` is on a success alone. */

import type { operations, Execution } from "./api.js";
import { InvalidResponse } from "./errors.js";

type Body = operations["execute_tool"]["requestBody"]["content"]["application/json"];

/** A call as it was made, so that it can be made again. */
export interface ExecuteCall extends Omit<Body, "retry_unknown"> {
  tool_name: string;
  idempotency_key?: string;
}

/** Beside what the API answers: the request's id, and the call. */
export interface Ran {
  readonly request_id: string;
  readonly call: ExecuteCall;
}

/**
 * What became of a call. Look at `status`:
 *
 * - `success`: `result`; `truncated` says where the rest of a large one is.
 * - `error`: the provider refused or a limit was met; `error` says what and whether to try again.
 * - `auth_required`, `auth_expired`: `connect_url` is for the user; see `client.waitForConnection`.
 * - `approval_required`: a person has to allow it; see `client.waitForApproval`.
 * - `dry_run`: nothing was sent; `requests` would have been.
 */
export type Outcome = Execution & Ran;
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
  const said = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
  const status = String(said["status"]);
  if (!Object.hasOwn(FIELDS, status)) {
    throw new InvalidResponse(`the outcome ${status} is unknown: update this package`, { request_id });
  }
  for (const field of [...COMMON, ...FIELDS[status as Outcome["status"]]]) {
    if (!(field in said)) {
      throw new InvalidResponse(`the outcome lacks ${field}`, { request_id });
    }
  }
  const read = { ...said, request_id };
  // Out of what is printed and written as JSON: arguments are the user's own.
  Object.defineProperty(read, "call", { value: call, enumerable: false });
  return read as unknown as Outcome;
}
