/** How each model's provider writes tools, calls of them, and their results. Pure; see `Toolset`. */

import type { Dialect, Schema } from "./dialects.js";
import type { ToolgateError } from "./errors.js";
import type { Outcome } from "./outcomes.js";

export type Format = "openai" | "openai_responses" | "anthropic" | "gemini";
export const DIALECT_OF: Record<Format, Dialect> = {
  openai: "openai",
  openai_responses: "openai",
  anthropic: "anthropic",
  gemini: "gemini",
};

/**
 * The dialect of a format's schemas.
 *
 * @throws TypeError if there is no such format.
 */
export function dialectOf(format: unknown): Dialect {
  if (typeof format === "string" && Object.hasOwn(DIALECT_OF, format)) return DIALECT_OF[format as Format];
  throw new TypeError(`unknown format ${JSON.stringify(format)}: use one of ${Object.keys(DIALECT_OF).join(", ")}`);
}

/** A tool as each provider's package types it; the shapes are theirs, so that `definitions` goes in without a cast. */
export interface Definitions {
  openai: { type: "function"; function: { name: string; description: string; parameters: Record<string, unknown> } };
  openai_responses: { type: "function"; name: string; description: string; parameters: Record<string, unknown>; strict: boolean };
  anthropic: { name: string; description: string; input_schema: { type: "object"; [key: string]: unknown } };
  gemini: { functionDeclarations: { name: string; description: string; parameters?: Record<string, unknown> }[] };
}

/** The result of a call in the next request, likewise as each provider's package types it. */
export interface Results {
  openai: { role: "tool"; tool_call_id: string; content: string };
  openai_responses: { type: "function_call_output"; call_id: string; output: string };
  anthropic: { type: "tool_result"; tool_use_id: string; content: string; is_error?: boolean };
  gemini: { functionResponse: { id?: string; name: string; response: Record<string, unknown> } };
}

/** The three operations with which a model finds and runs any tool. */
export const GENERIC: { name: string; description: string; schema: Schema }[] = [
  {
    name: "search_tools",
    description: "Finds tools of third-party services by keywords or by a sentence that says what is to be done. Begin here.",
    schema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Keywords or natural language." },
        service: { type: "string", description: "Only tools of this service, in lower case." },
        limit: { type: "integer", description: "How many tools to answer.", minimum: 1, maximum: 100 },
      },
      required: ["query"],
    },
  },
  {
    name: "get_tool_schema",
    description: "Describes one tool: what it does and the JSON Schema of its arguments.",
    schema: {
      type: "object",
      properties: { tool_name: { type: "string", description: "Exact name, as search_tools says it." } },
      required: ["tool_name"],
    },
  },
  {
    name: "execute_tool",
    description: "Runs one tool for the user and answers its result, or what the user has to do first.",
    schema: {
      type: "object",
      properties: {
        tool_name: { type: "string", description: "Exact name, as search_tools says it." },
        arguments: { type: "string", description: "The tool's arguments, one JSON object as text; '{}' for none." },
      },
      required: ["tool_name", "arguments"],
    },
  },
];

/** A call that a model made. `id` is the provider's, empty where it has none. */
export interface Call {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Whether the arguments could not be parsed; the model then gets an error. */
  malformed: boolean;
}

/** The result of a call for the model, before it is written in a provider's format. */
export interface ModelResult {
  content: Record<string, unknown>;
  is_error: boolean;
}

type Fields = Record<string, unknown>;

/** One tool in the provider's format; Gemini's is one entry of `functionDeclarations`. */
export function definition(format: Format, name: string, description: string, schema: Schema): Fields {
  switch (format) {
    case "openai":
      return { type: "function", function: { name, description, parameters: schema } };
    case "openai_responses":
      return { type: "function", name, description, parameters: schema, strict: false };
    case "anthropic":
      return { name, description, input_schema: schema };
    case "gemini":
      // Gemini takes no object without properties.
      return Object.keys(schema["properties"] as object).length > 0 ? { name, description, parameters: schema } : { name, description };
  }
}

/** The value of `tools` in the provider's request. */
export function definitions(format: Format, tools: Fields[]): Fields[] {
  return format === "gemini" && tools.length > 0 ? [{ functionDeclarations: tools }] : tools;
}

/**
 * The calls in a model's answer: OpenAI's message or its `tool_calls`, the `output` of a response,
 * Anthropic's message or its `content`, Gemini's content or its `parts`.
 */
export function calls(format: Format, answer: unknown): Call[] {
  const inner = { openai: "tool_calls", openai_responses: "output", anthropic: "content", gemini: "parts" }[format];
  const items = Array.isArray(answer) ? answer : fields(answer)[inner];
  if (!Array.isArray(items)) return [];
  return items.flatMap((value: unknown) => {
    const item = fields(value);
    if (format === "openai") {
      const called = fields(item["function"]);
      return [call(item["id"], called["name"], called["arguments"])];
    }
    if (format === "openai_responses") {
      return item["type"] === "function_call" ? [call(item["call_id"], item["name"], item["arguments"])] : [];
    }
    if (format === "anthropic") return item["type"] === "tool_use" ? [call(item["id"], item["name"], item["input"])] : [];
    const called = item["functionCall"] ?? item["function_call"];
    return called ? [call(fields(called)["id"], fields(called)["name"], fields(called)["args"])] : [];
  });
}

/** The result of a call in the provider's format, for the next request. */
export function result(format: Format, call: Call, modelResult: ModelResult): Fields {
  const { content, is_error } = modelResult;
  const text = JSON.stringify(content);
  switch (format) {
    case "openai":
      return { role: "tool", tool_call_id: call.id, content: text };
    case "openai_responses":
      return { type: "function_call_output", call_id: call.id, output: text };
    case "anthropic":
      return { type: "tool_result", tool_use_id: call.id, content: text, ...(is_error ? { is_error } : {}) };
    case "gemini":
      return { functionResponse: { ...(call.id ? { id: call.id } : {}), name: call.name, response: content } };
  }
}

/** An outcome for the model: what happened, and the next step. */
export function toModelResult(outcome: Outcome): ModelResult {
  switch (outcome.status) {
    case "success": {
      const { summary, truncated, next_cursor } = outcome;
      // A model has no use for Base64; the program gets it through `on_outcome`.
      const files = (outcome.files ?? []).map(({ name, media_type, size_bytes }) => ({ ...(name ? { name } : {}), media_type, size_bytes }));
      const more = {
        ...(summary ? { summary } : {}),
        ...(files.length > 0 ? { files } : {}),
        ...(truncated ? { truncated } : {}),
        ...(next_cursor ? { next_cursor } : {}),
      };
      return { content: { status: "success", result: outcome.result, ...more }, is_error: false };
    }
    case "error":
      return { content: { status: "error", reason: outcome.reason, ...outcome.error }, is_error: true };
    case "auth_required":
    case "auth_expired": {
      const { status, message, connect_url } = outcome;
      const next = "Ask the user to open connect_url, then repeat the call.";
      return { content: { status, message, ...(connect_url ? { connect_url, next } : {}) }, is_error: false };
    }
    case "approval_required": {
      const { status, message, approval_url } = outcome;
      const next = "A person has to approve it at approval_url; then repeat the call.";
      return { content: { status, message, approval_url, next }, is_error: false };
    }
    case "dry_run":
      return { content: { status: "dry_run", requests: outcome.requests }, is_error: false };
  }
}

/** A refused call for the model, so that it can correct the call. */
export function errorToModelResult({ code, server_message, can_retry, hint, details }: ToolgateError): ModelResult {
  const more = { ...(hint ? { hint } : {}), ...(Object.keys(details).length > 0 ? { details } : {}) };
  return { content: { status: "error", code, message: server_message, can_retry, ...more }, is_error: true };
}

function call(id: unknown, name: unknown, args: unknown): Call {
  let parsed: unknown = args ?? {};
  if (typeof parsed === "string") {
    try {
      parsed = JSON.parse(parsed || "{}");
    } catch {
      parsed = undefined;
    }
  }
  const malformed = typeof parsed !== "object" || parsed === null || Array.isArray(parsed);
  return { id: String(id ?? ""), name: String(name ?? ""), arguments: malformed ? {} : (parsed as Fields), malformed };
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
