/// <reference path="./toolgate-plugin-types.d.ts" />
declare module 'toolgate:plugin/kv@0.1.1' {
  export function get(key: string): Entry | undefined;
  /**
   * `if-version`: none = unconditional, 0 = must not exist; returns the new version
   */
  export function set(key: string, value: Uint8Array, ttlSeconds: number | undefined, ifVersion: bigint | undefined): bigint;
  export { _delete as delete };
  function _delete(key: string): void;
  export function listKeys(prefix: string, cursor: string | undefined): [Array<string>, string | undefined];
  export type ToolError = import('toolgate:plugin/types@0.1.1').ToolError;
  export interface Entry {
    value: Uint8Array,
    version: bigint,
  }
}
