/// <reference path="./toolgate-plugin-types.d.ts" />
declare module 'toolgate:plugin/blobs@0.1.1' {
  export function create(mediaType: string, name: string | undefined, data: Uint8Array): Blob;
  /**
   * resolve a file reference that the caller put into the arguments
   */
  export function open(reference: string): Blob;
  export type ToolError = import('toolgate:plugin/types@0.1.1').ToolError;

  export class Blob implements Disposable {
    /**
     * This type does not have a public constructor.
     */
    private constructor();
    size(): bigint;
    mediaType(): string;
    name(): string | undefined;
    /**
    * at most 1 MiB a call
    */
    read(offset: bigint, len: number): Uint8Array;
    /**
    * Adds to the end, so that a file is never whole in guest memory.
    * Since 0.1.1.
    */
    append(data: Uint8Array): void;
    [Symbol.dispose](): void;
  }
}
