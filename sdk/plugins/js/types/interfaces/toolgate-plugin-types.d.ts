declare module 'toolgate:plugin/types@0.1.1' {
  /**
   * One UTF-8 JSON document.
   */
  export type Json = string;
  /**
   * Closed list that the gateway maps to HTTP status and `reason`.
   * Provider detail goes into `code`; a new integration never adds a case.
   * # Variants
   *
   * ## `"invalid-arguments"`
   *
   * ## `"auth-required"`
   *
   * ## `"auth-expired"`
   *
   * ## `"permission-denied"`
   *
   * ## `"not-found"`
   *
   * ## `"conflict"`
   *
   * ## `"rate-limited"`
   *
   * ## `"upstream"`
   *
   * ## `"unavailable"`
   *
   * ## `"too-large"`
   *
   * ## `"cancelled"`
   *
   * ## `"internal"`
   */
  export type ErrorKind = 'invalid-arguments' | 'auth-required' | 'auth-expired' | 'permission-denied' | 'not-found' | 'conflict' | 'rate-limited' | 'upstream' | 'unavailable' | 'too-large' | 'cancelled' | 'internal';
  export interface ToolError {
    kind: ErrorKind,
    /**
     * stable provider or plugin code, for example `channel_not_found`
     */
    code?: string,
    /**
     * text for the model; the host scrubs and truncates it
     */
    message: string,
    retryAfterMs?: bigint,
    httpStatus?: number,
    /**
     * JSON pointer into the arguments
     */
    field?: string,
    details?: Json,
  }
  /**
   * # Variants
   *
   * ## `"debug"`
   *
   * ## `"info"`
   *
   * ## `"warn"`
   *
   * ## `"error"`
   */
  export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
}
