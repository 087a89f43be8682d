/** Tools as a model's provider takes them. */

import { lower, toolName, type Lowered } from "./dialects.js";
import { ToolgateError } from "./errors.js";
import {
  calls,
  definition,
  definitions,
  dialectOf,
  errorToModelResult,
  GENERIC,
  result,
  toModelResult,
  type Call,
  type Definitions,
  type Format,
  type ModelResult,
  type Results,
} from "./formats.js";
import type { AuthRequired, Outcome } from "./outcomes.js";
import type { Tools } from "./resources.js";

export interface ToolsetOptions {
  /** Names of the chosen tools, none of them if empty; the three generic operations if absent. */
  tools?: string[];
  user_id?: string;
  session_id?: string;
  /** Called with each call that ran and its complete outcome: only here is the content of a result's files. */
  on_outcome?: (call: Call, outcome: Outcome) => void;
  /** Binds the connect links that the model passes to the user; see `ConnectOptions`. */
  confirm_url?: string;
}

const OPTIONS = ["tools", "user_id", "session_id", "on_outcome", "confirm_url"];

/** Refuses what would otherwise mean the generic operations, with which a model finds every tool. */
function checkOptions(options: unknown): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError("the options of a toolset are an object: pass { tools: [...] } for chosen tools");
  }
  const unknown = Object.keys(options).filter((name) => !OPTIONS.includes(name));
  if (unknown.length > 0) throw new TypeError(`a toolset takes no ${unknown.join(", ")}: its options are ${OPTIONS.join(", ")}`);
  const { tools } = options as { tools?: unknown };
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === "string"))) {
    throw new TypeError("tools must be an array of names");
  }
}

/** The parts of the package `ai` that `Toolset.vercel` needs: pass the module itself. */
export interface VercelAI {
  tool: (options: never) => unknown;
  jsonSchema: (schema: never) => unknown;
  generateText: (options: never) => unknown;
}

/** The package's own type of a set of tools: what its `generateText` takes. */
export type VercelTools<AI extends VercelAI> = Parameters<AI["generateText"]>[0] extends { tools?: infer Tools } ? NonNullable<Tools> : never;

/** The part of the module `@mastra/core/tools` that `Toolset.mastra` needs: pass the module itself. */
export interface MastraTools {
  createTool: (options: never) => unknown;
}

/** What a toolset needs of the client. */
interface ToolsetClient {
  readonly tools: Tools;
  boundLink(outcome: AuthRequired, confirm_url: string): Promise<string>;
}

/**
 * The three generic operations, or chosen tools, in a provider's format; made by `client.toolset`.
 *
 * `definitions` is the value of `tools` in the provider's request. `run` takes the model's answer and gives
 * back the results of the calls in it for the next request, in their order. Of a file a model gets name, type and
 * size; see `ToolsetOptions.on_outcome` for its content.
 */
export class Toolset<F extends Format = Format> {
  readonly #client: ToolsetClient;
  readonly #format: F;
  readonly #caller: { user_id?: string; session_id?: string };
  readonly #onOutcome: ToolsetOptions["on_outcome"];
  readonly #confirmUrl: string | undefined;
  /** Whether tools were chosen, possibly none: then no other tool is run. */
  readonly #isChosen: boolean;
  readonly #tools: { name: string; description: string; lowered: Lowered }[] = [];
  /** The tool's name by the name that the model uses. */
  readonly #names = new Map<string, string>();

  private constructor(client: ToolsetClient, format: F, { tools, user_id, session_id, on_outcome, confirm_url }: ToolsetOptions) {
    this.#client = client;
    this.#format = format;
    this.#onOutcome = on_outcome;
    this.#confirmUrl = confirm_url;
    this.#isChosen = Boolean(tools);
    this.#caller = { ...(user_id ? { user_id } : {}), ...(session_id ? { session_id } : {}) };
  }

  /** @internal */
  static async load<F extends Format>(client: ToolsetClient, format: F, options: ToolsetOptions): Promise<Toolset<F>> {
    const dialect = dialectOf(format);
    checkOptions(options);
    const toolset = new Toolset(client, format, options);
    if (!options.tools) {
      for (const { name, description, schema } of GENERIC) {
        toolset.#tools.push({ name, description, lowered: lower(schema, dialect) });
      }
      return toolset;
    }
    for (const tool_name of options.tools) {
      const described = await client.tools.schema(tool_name, toolset.#user());
      const name = toolName(tool_name);
      toolset.#names.set(name, tool_name);
      toolset.#tools.push({ name, description: described?.description ?? "", lowered: lower(described?.inputSchema ?? {}, dialect) });
    }
    return toolset;
  }

  /** The value of `tools` in the provider's request. */
  get definitions(): Definitions[F][] {
    const tools = this.#tools.map(({ name, description, lowered }) => definition(this.#format, name, description, lowered.schema));
    return definitions(this.#format, tools) as Definitions[F][];
  }

  /** Makes every call in a model's answer; a failed one becomes a result for the model and is not thrown. */
  async run(answer: unknown): Promise<Results[F][]> {
    const results = [];
    for (const call of calls(this.#format, answer)) results.push(result(this.#format, call, await this.#modelResult(call)) as Results[F]);
    return results;
  }

  /** Makes one call by its name in the definitions, and answers the result for the model. */
  async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    return (await this.#modelResult({ id: "", name, arguments: args, malformed: false })).content;
  }

  /** The same as tools of the Vercel AI SDK: `toolset.vercel(await import("ai"))`. */
  vercel<AI extends VercelAI>(ai: AI): VercelTools<AI> {
    const entries = this.#tools.map(({ name, description, lowered }) => {
      const execute = (args: Record<string, unknown>): Promise<unknown> => this.call(name, args);
      const inputSchema = ai.jsonSchema(lowered.schema as never);
      return [name, ai.tool({ description, inputSchema, execute } as never)] as const;
    });
    return Object.fromEntries(entries) as VercelTools<AI>;
  }

  /** The same as tools of Mastra: `toolset.mastra(await import("@mastra/core/tools"))`. */
  mastra<Module extends MastraTools>(module: Module): Record<string, ReturnType<Module["createTool"]>> {
    const entries = this.#tools.map(({ name, description, lowered }) => {
      const execute = (args: Record<string, unknown>): Promise<unknown> => this.call(name, args);
      const options = { id: name, description, inputSchema: lowered.schema, execute };
      return [name, module.createTool(options as never) as ReturnType<Module["createTool"]>] as const;
    });
    return Object.fromEntries(entries);
  }

  #user(): { user_id?: string } {
    return this.#caller.user_id ? { user_id: this.#caller.user_id } : {};
  }

  async #modelResult(call: Call): Promise<ModelResult> {
    if (call.malformed) return unusable("invalid_json", "the arguments are not one JSON object");
    try {
      return this.#isChosen ? await this.#chosen(call) : await this.#generic(call);
    } catch (error) {
      if (error instanceof ToolgateError) return errorToModelResult(error);
      throw error;
    }
  }

  async #chosen(call: Call): Promise<ModelResult> {
    const tool_name = this.#names.get(call.name);
    const tool = this.#tools.find(({ name }) => name === call.name);
    if (!tool_name || !tool) return unusable("tool_not_found", `there is no tool ${call.name}`);
    return this.#execute(call, tool_name, tool.lowered.restore(call.arguments));
  }

  async #generic(call: Call): Promise<ModelResult> {
    const { name, arguments: given } = call;
    if (name === "search_tools") {
      const { query, service, limit } = given as { query?: string; service?: string; limit?: number };
      const narrowed = { ...(service ? { service } : {}), ...(limit ? { limit } : {}), ...this.#user() };
      return { content: { ...(await this.#client.tools.search(String(query ?? ""), narrowed)) }, is_error: false };
    }
    const tool_name = given["tool_name"];
    if (typeof tool_name !== "string" || /^\.*$/.test(tool_name)) return unusable("invalid_arguments", "tool_name must name a tool");
    if (name === "get_tool_schema") {
      return { content: { ...(await this.#client.tools.schema(tool_name, this.#user())) }, is_error: false };
    }
    if (name === "execute_tool") return this.#execute(call, tool_name, (given["arguments"] || {}) as Record<string, unknown> | string);
    return unusable("tool_not_found", `there is no tool ${name}`);
  }

  async #execute(call: Call, tool_name: string, args: Record<string, unknown> | string): Promise<ModelResult> {
    let outcome = await this.#client.tools.execute(tool_name, args, this.#caller);
    if (this.#confirmUrl && (outcome.status === "auth_required" || outcome.status === "auth_expired") && outcome.connect_url) {
      outcome = Object.assign(outcome, { connect_url: await this.#client.boundLink(outcome, this.#confirmUrl) });
    }
    this.#onOutcome?.(call, outcome);
    return toModelResult(outcome);
  }
}

function unusable(code: string, message: string): ModelResult {
  return { content: { status: "error", code, message, can_retry: false }, is_error: true };
}
