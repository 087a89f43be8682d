import type { CodeMode, ScriptRun, ScriptRunPage, ScriptRunSummary } from "./api.js";
import type { Pager } from "./pager.js";
import { Resource, type Body, type Keyed, type Query } from "./resources.js";

/** Scripts that call tools and run at the server, where the workspace has code mode on. */
export class Scripts extends Resource {
  /**
   * Runs a module in JavaScript or TypeScript, which finds `arguments` in `args`. A run takes up to two minutes: make
   * the client with a `timeoutMs` of more than that. Where `status` is `paused`, show `pause` to the user, and resume
   * the run afterwards.
   */
  run(script: string, options: Omit<Body<"run_script">, "script"> & Keyed = {}): Promise<ScriptRun> {
    return this.call("run_script", { ...options, script });
  }

  /** Goes on with a run that was paused; calls that were made are not made again. */
  resume(run_id: string, options: Keyed = {}): Promise<ScriptRun> {
    return this.call("resume_script", { ...options, run_id });
  }

  /** Ends a run: no further call is made. */
  cancel(run_id: string, options: Keyed = {}): Promise<ScriptRun> {
    return this.call("cancel_script", { ...options, run_id });
  }

  get(run_id: string): Promise<ScriptRun> {
    return this.call("get_script_run", { run_id });
  }

  /** The runs, newest first. */
  list(options: Query<"list_script_runs"> = {}): Pager<ScriptRunSummary, ScriptRunPage> {
    return this.pager("list_script_runs", "items", options);
  }

  /** Declarations in TypeScript of what a script sees: of these tools, and of all tools of these services. */
  types(options: { names?: readonly string[]; services?: readonly string[]; user_id?: string }): Promise<string> {
    const { names, services, user_id } = options;
    return this.call("get_tool_types", { names: listed(names), services: listed(services), user_id });
  }

  /** Whether scripts run in the workspace. */
  codeMode(): Promise<CodeMode> {
    return this.call("get_code_mode", {});
  }

  /** Switches code mode; the key needs the scope `admin`. */
  setCodeMode(enabled: boolean): Promise<CodeMode> {
    return this.call("set_code_mode", { enabled });
  }
}

function listed(names: readonly string[] | undefined): string | undefined {
  return names && names.length > 0 ? names.join(",") : undefined;
}
