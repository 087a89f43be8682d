/** Makes the calls that the test says, with the client as it was installed. */

import { createInterface } from "node:readline";
import { inspect } from "node:util";

import { Toolgate, ToolgateError } from "toolgate";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const hear = async () => (await lines.next()).value;

async function sleep(ms) {
  say({ sleep_ms: Math.round(ms) });
  await hear();
}

let shown = Promise.resolve();
function show(url) {
  say({ shown: url });
  shown = hear();
}

/** Which values stand before the others, and how the method is called here. */
const POSITIONAL = {
  "tools.search": ["query"],
  "tools.schema": ["tool_name"],
  "tools.execute": ["tool_name", "arguments"],
  "skills.get": ["skill_id"],
  "skills.update": ["skill_id"],
  "skills.delete": ["skill_id"],
  "skills.versions": ["skill_id"],
  "skills.check": ["skill_id"],
  "permissions.get": ["user_id"],
  "permissions.set_tool": ["user_id", "tool_name", "permission"],
  "permissions.set_service": ["user_id", "service_name", "permission"],
  "permissions.batch": ["user_id"],
  "permissions.summary": ["user_id"],
  "permissions.explain": ["user_id", "tool_name"],
  "connections.link": ["service"],
  "connections.confirm": ["code", "user_id"],
  "connections.get": ["connection_id"],
  "connections.delete": ["connection_id"],
  "sessions.create": ["prompt"],
  "sessions.get": ["session_id"],
  "sessions.delete": ["session_id"],
  "executions.get": ["execution_id"],
  "approvals.get": ["approval_id"],
  "approvals.decide": ["approval_id", "decision"],
  "results.get": ["result_id"],
  "results.text": ["result_id"],
  "webhooks.create": ["url", "events"],
  "webhooks.get": ["webhook_id"],
  "webhooks.update": ["webhook_id"],
  "webhooks.delete": ["webhook_id"],
  "webhooks.rotate": ["webhook_id"],
  "webhooks.test": ["webhook_id"],
  "webhooks.deliveries": ["webhook_id"],
  "webhooks.resend": ["webhook_id", "delivery_id"],
  "knowledge.add": ["media_type"],
  "knowledge.get": ["document_id"],
  "knowledge.delete": ["document_id"],
  "knowledge.search": ["query"],
  "sessions.send": ["session_id", "content"],
  "sessions.messages": ["session_id"],
  "sessions.resume": ["session_id"],
  "webhooks.verify": ["payload", "headers", "secret"],
};
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

function settings({ url, key, timeout_ms, max_retries, max_retry_wait_ms }) {
  const given = { timeoutMs: timeout_ms, maxRetries: max_retries, maxRetryWaitMs: max_retry_wait_ms };
  return { apiKey: key, baseUrl: url, sleep, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

async function make(client, last, { call, args, take }) {
  if (call === "toolset") {
    const { format, answer, ...options } = args;
    const outcomes = [];
    const on_outcome = (call, outcome) => outcomes.push({ id: call.id, ...plain(outcome) });
    const toolset = await client.toolset(format, { ...options, on_outcome });
    return { definitions: toolset.definitions, results: await toolset.run(answer), outcomes };
  }
  const { timeout_ms, ...given } = args;
  const waiting = { show, ...(timeout_ms ? { timeoutMs: timeout_ms } : {}) };
  if (call === "wait_for_approval") return client.waitForApproval(last, waiting);
  if (call === "wait_for_connection") return client.waitForConnection(last, { confirm_url: null, ...given, ...waiting });
  if (call === "connect") {
    const { service, ...rest } = given;
    return client.connect(service, { confirm_url: null, ...rest, ...waiting });
  }
  const names = POSITIONAL[call] ?? [];
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
  const parts = call.split(".");
  const on = parts.length === 2 ? client[parts[0]] : client;
  const value = on[camel(parts.at(-1))](...names.map((name) => args[name]), rest);
  return typeof value?.all === "function" ? value.all(take) : value;
}

function plain(value) {
  if (!value?.execution_id || !value.call) return value;
  const outcome = { error: "provider_error", auth_expired: "auth_required" }[value.status] ?? value.status;
  return { ...value, outcome, expired: value.status === "auth_expired", can_retry: value.error?.can_retry };
}

let [client, last] = [];
for (let line = await hear(); line !== undefined; line = await hear()) {
  const message = JSON.parse(line);
  if (message.new) {
    client = new Toolgate(settings(message.new));
    console.error(inspect(client, { depth: 9, showHidden: true }));
    continue;
  }
  try {
    const value = await make(client, last, message);
    if (value?.call) last = value;
    say({ done: plain(value) ?? null });
  } catch (error) {
    if (!(error instanceof ToolgateError)) throw error;
    const { code, status, request_id, can_retry, retry_after, hint, details, server_message } = error;
    say({
      failed: {
        type: error.name, code, status, request_id: request_id ?? null, can_retry, retry_after_s: retry_after, hint, details, message: server_message,
        // Looked through for keys.
        text: [String(error), error.stack, inspect(error, { depth: 9, showHidden: true })],
      },
    });
  }
}
