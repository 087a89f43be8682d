/// <reference path="./toolgate-plugin-types.d.ts" />
declare module 'toolgate:plugin/call@0.1.1' {
  export function log(level: LogLevel, message: string, fields: Json): void;
  export function progress(done: bigint, total: bigint | undefined, message: string): void;
  /**
   * one partial result, forwarded if the caller streams, dropped otherwise
   */
  export function partial(data: Json): void;
  /**
   * cooperative; the host also stops the guest on its own
   */
  export function cancelled(): boolean;
  export function remainingMs(): bigint;
  export function nowMs(): bigint;
  export function randomBytes(len: number): Uint8Array;
  /**
   * operator setting as JSON, none when unset; never a secret
   */
  export function config(key: string): Json | undefined;
  export type LogLevel = import('toolgate:plugin/types@0.1.1').LogLevel;
  export type Json = import('toolgate:plugin/types@0.1.1').Json;
}
