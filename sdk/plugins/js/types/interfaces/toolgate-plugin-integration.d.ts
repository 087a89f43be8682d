/// <reference path="./toolgate-plugin-blobs.d.ts" />
/// <reference path="./toolgate-plugin-types.d.ts" />
declare module 'toolgate:plugin/integration@0.1.1' {
  /**
   * The manifest. Pure, constant for one binary; called once per file hash in
   * a store where every import is denied.
   */
  export function describe(): Json;
  export function invoke(req: Invocation): Output;
  export type ToolError = import('toolgate:plugin/types@0.1.1').ToolError;
  export type Json = import('toolgate:plugin/types@0.1.1').Json;
  export type Blob = import('toolgate:plugin/blobs@0.1.1').Blob;
  export interface Invocation {
    /**
     * action name without the service prefix
     */
    tool: string,
    /**
     * valid against the tool's input schema (checked by the host)
     */
    arguments: Json,
    /**
     * gateway session, for multi-step tools
     */
    session?: string,
    /**
     * page to continue from, only for tools declared as paginated
     */
    cursor?: string,
    /**
     * forward-compatible extras; unknown keys are ignored
     */
    meta: Json,
  }
  export interface Output {
    data: Json,
    files: Array<Blob>,
    nextCursor?: string,
    /**
     * one line for people and models
     */
    summary?: string,
    meta?: Json,
  }
}
