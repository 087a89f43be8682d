/** Tools as a model's provider takes them. */

import { lower, toolName, type Lowered } from "./dialects.js";
import { ToolgateError } from "./errors.js";
import { calls, definition, definitions, DIALECT_OF, GENERIC, result, say, sayError, type Call, type Definitions, type Format, type Results, type Said } from "./formats.js";
import type { AuthRequired, Outcome } from "./outcomes.js";
import type { Tools } from "./resources.js";

export interface ToolsetOptions {
  /** Names of the chosen tools, none of them if empty; the three generic operations if absent. */
  tools?: string[];
  user_id?: string;
  session_id?: string;
  /** Is told each call that ran and its outcome, whole: the content of a result's files is here alone. */
  on_outcome?: (call: Call, outcome: Outcome) => void;
  /** Binds the connect links that the model hands out; see `ConnectOptions`. */
  confirm_url?: string;
}

/** The parts of the package `ai` that `Toolset.vercel` needs: pass the module itself. */
export interface VercelAI {
  tool: (made: never) => unknown;
  jsonSchema: (schema: never) => unknown;
  generateText: (options: never) => unknown;
}

/** The package's own type of a set of tools: what its `generateText` takes. */
export type VercelTools<AI extends VercelAI> = Parameters<AI["generateText"]>[0] extends { tools?: infer Tools } ? NonNullable<Tools> : never;

/** The part of the module `@mastra/core/tools` that `Toolset.mastra` needs: pass the module itself. */
export interface MastraTools {
  createTool: (made: never) => unknown;
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
 * back what the next request says about the calls in it, in their order. A model hears of a file its name, type
 * and size; see `ToolsetOptions.on_outcome` for its content.
 */
export class Toolset<F extends Format = Format> {
  readonly #client: ToolsetClient;
  readonly #format: F;
  readonly #whose: { user_id?: string; session_id?: string };
  readonly #onOutcome: ToolsetOptions["on_outcome"];
  readonly #confirmUrl: string | undefined;
  /** Whether tools were chosen, be it none: then no other one is ever run. */
  readonly #isChosen: boolean;
  readonly #made: { name: string; description: string; lowered: Lowered }[] = [];
  /** What the model calls a tool, and what it is called. */
  readonly #names = new Map<string, string>();

  private constructor(client: ToolsetClient, format: F, { tools, user_id, session_id, on_outcome, confirm_url }: ToolsetOptions) {
    this.#client = client;
    this.#format = format;
    this.#onOutcome = on_outcome;
    this.#confirmUrl = confirm_url;
    this.#isChosen = Boolean(tools);
    this.#whose = { ...(user_id ? { user_id } : {}), ...(session_id ? { session_id } : {}) };
  }

  /** @internal */
  static async load<F extends Format>(client: ToolsetClient, format: F, options: ToolsetOptions): Promise<Toolset<F>> {
    const made = new Toolset(client, format, options);
    const dialect = DIALECT_OF[format];
    if (!options.tools) {
      for (const { name, description, schema } of GENERIC) {
        made.#made.push({ name, description, lowered: lower(schema, dialect) });
      }
      return made;
    }
    for (const tool_name of options.tools) {
      const described = await client.tools.schema(tool_name, made.#user());
      const name = toolName(tool_name);
      made.#names.set(name, tool_name);
      made.#made.push({ name, description: described?.description ?? "", lowered: lower(described?.inputSchema ?? {}, dialect) });
    }
    return made;
  }

  /** The value of `tools` in the provider's request. */
  get definitions(): Definitions[F][] {
    const made = this.#made.map(({ name, description, lowered }) => definition(this.#format, name, description, lowered.schema));
    return definitions(this.#format, made) as Definitions[F][];
  }

  /** Makes every call in a model's answer; a failed one is told to the model, not thrown. */
  async run(answer: unknown): Promise<Results[F][]> {
    const results = [];
    for (const call of calls(this.#format, answer)) results.push(result(this.#format, call, await this.#said(call)) as Results[F]);
    return results;
  }

  /** Makes one call by the name that the definitions say, and answers what a model is told. */
  async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    return (await this.#said({ id: "", name, arguments: args, malformed: false })).content;
  }

  /** The same as tools of the Vercel AI SDK: `toolset.vercel(await import("ai"))`. */
  vercel<AI extends VercelAI>(ai: AI): VercelTools<AI> {
    const entries = this.#made.map(({ name, description, lowered }) => {
      const execute = (args: Record<string, unknown>): Promise<unknown> => this.call(name, args);
      const inputSchema = ai.jsonSchema(lowered.schema as never);
      return [name, ai.tool({ description, inputSchema, execute } as never)] as const;
    });
    return Object.fromEntries(entries) as VercelTools<AI>;
  }

  /** The same as tools of Mastra: `toolset.mastra(await import("@mastra/core/tools"))`. */
  mastra<Module extends MastraTools>(module: Module): Record<string, ReturnType<Module["createTool"]>> {
    const entries = this.#made.map(({ name, description, lowered }) => {
      const execute = (args: Record<string, unknown>): Promise<unknown> => this.call(name, args);
      const made = { id: name, description, inputSchema: lowered.schema, execute };
      return [name, module.createTool(made as never) as ReturnType<Module["createTool"]>] as const;
    });
    return Object.fromEntries(entries);
  }

  #user(): { user_id?: string } {
    return this.#whose.user_id ? { user_id: this.#whose.user_id } : {};
  }

  async #said(call: Call): Promise<Said> {
    if (call.malformed) return unusable("invalid_json", "the arguments are not one JSON object");
    try {
      return this.#isChosen ? await this.#chosen(call) : await this.#generic(call);
    } catch (error) {
      if (error instanceof ToolgateError) return sayError(error);
      throw error;
    }
  }

  async #chosen(call: Call): Promise<Said> {
    const tool_name = this.#names.get(call.name);
    const made = this.#made.find(({ name }) => name === call.name);
    if (!tool_name || !made) return unusable("tool_not_found", `there is no tool ${call.name}`);
    return this.#execute(call, tool_name, made.lowered.restore(call.arguments));
  }

  async #generic(call: Call): Promise<Said> {
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

  async #execute(call: Call, tool_name: string, args: Record<string, unknown> | string): Promise<Said> {
    let outcome = await this.#client.tools.execute(tool_name, args, this.#whose);
    if (this.#confirmUrl && (outcome.status === "auth_required" || outcome.status === "auth_expired") && outcome.connect_url) {
      outcome = Object.assign(outcome, { connect_url: await this.#client.boundLink(outcome, this.#confirmUrl) });
    }
    this.#onOutcome?.(call, outcome);
    return say(outcome);
  }
}

function unusable(code: string, message: string): Said {
  return { content: { status: "error", code, message, can_retry: false }, is_error: true };
}
