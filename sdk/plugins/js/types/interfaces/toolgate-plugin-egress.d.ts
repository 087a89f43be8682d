/// <reference path="./toolgate-plugin-blobs.d.ts" />
declare module 'toolgate:plugin/egress@0.1.1' {
  export function send(req: Request): Response;
  /**
   * Fan-out without guest threads: bounded concurrency on the host, results
   * in the order of the requests.
   */
  export function sendAll(reqs: Array<Request>): Array<Result<Response, Failure>>;
  /**
   * Whether a slot is connected for this call, so that a plugin can choose.
   */
  export function connected(slot: string): boolean;
  export type Blob = import('toolgate:plugin/blobs@0.1.1').Blob;
  /**
   * # Variants
   *
   * ## `"get"`
   *
   * ## `"head"`
   *
   * ## `"post"`
   *
   * ## `"put"`
   *
   * ## `"patch"`
   *
   * ## `"delete"`
   *
   * ## `"options"`
   */
  export type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options';
  export type Body = BodyEmpty | BodyBytes | BodyBlob;
  export interface BodyEmpty {
    tag: 'empty',
  }
  export interface BodyBytes {
    tag: 'bytes',
    val: Uint8Array,
  }
  export interface BodyBlob {
    tag: 'blob',
    val: Blob,
  }
  /**
   * # Variants
   *
   * ## `"buffered"`
   *
   * body in `data`, capped
   * ## `"stored"`
   *
   * body kept on the host and returned as a blob
   */
  export type ResponseMode = 'buffered' | 'stored';
  export interface Request {
    method: Method,
    /**
     * absolute URL, https unless the manifest says otherwise
     */
    url: string,
    /**
     * appended and percent-encoded by the host
     */
    query: Array<[string, string]>,
    headers: Array<[string, string]>,
    body: Body,
    /**
     * credential slot of the manifest; none = anonymous request
     */
    auth?: string,
    mode: ResponseMode,
    timeoutMs?: number,
    /**
     * present = the host may retry even a POST
     */
    idempotencyKey?: string,
  }
  export interface Response {
    status: number,
    /**
     * without set-cookie, authorization and other credential-bearing names
     */
    headers: Array<[string, string]>,
    data: Uint8Array,
    stored?: Blob,
    /**
     * final URL after allowed redirects
     */
    url: string,
  }
  /**
   * # Variants
   *
   * ## `"denied"`
   *
   * ## `"auth-required"`
   *
   * ## `"auth-expired"`
   *
   * ## `"scope-missing"`
   *
   * ## `"dns"`
   *
   * ## `"connect"`
   *
   * ## `"tls"`
   *
   * ## `"timeout"`
   *
   * ## `"too-large"`
   *
   * ## `"budget-exhausted"`
   *
   * ## `"leak-blocked"`
   *
   * ## `"cancelled"`
   *
   * ## `"protocol"`
   */
  export type FailureKind = 'denied' | 'auth-required' | 'auth-expired' | 'scope-missing' | 'dns' | 'connect' | 'tls' | 'timeout' | 'too-large' | 'budget-exhausted' | 'leak-blocked' | 'cancelled' | 'protocol';
  export interface Failure {
    kind: FailureKind,
    message: string,
    /**
     * whether the provider may have seen the request
     */
    sent: boolean,
  }
  export type Result<T, E> = { tag: 'ok', val: T } | { tag: 'err', val: E };
}
