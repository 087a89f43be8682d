/// <reference path="../types/plugin.d.ts" />

/** One argument of a tool: its schema, and the type that a value of it has. */
export interface Property<T, Optional extends boolean = false> {
  readonly schema: JsonSchema;
  readonly isOptional: boolean;
  /** A call may leave it out. */
  optional(): Property<T, true>;
  /** For types alone. */
  readonly __type?: [T, Optional];
}

export type JsonSchema = Record<string, unknown>;
type Properties = Record<string, Property<any, boolean>>;
type OptionalKeys<P extends Properties> = { [K in keyof P]: P[K] extends Property<any, true> ? K : never }[keyof P];
type TypeOf<P> = P extends Property<infer T, boolean> ? T : never;

/** The arguments that a tool's function gets. */
export type Infer<P extends Properties> = { [K in Exclude<keyof P, OptionalKeys<P>>]: TypeOf<P[K]> } & {
  [K in OptionalKeys<P>]?: TypeOf<P[K]>;
};

export interface Options<T> {
  min?: number;
  max?: number;
  exclusiveMin?: number;
  exclusiveMax?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  /** Anchor it: a pattern matches anywhere (ECMA-262). */
  pattern?: string;
  format?: string;
  examples?: T[];
  /** What the tool sees where a call leaves it out. */
  default?: T;
}

/** Makes properties; each begins with the description that a model reads. */
export declare const s: {
  string(description?: string, options?: Options<string>): Property<string>;
  integer(description?: string, options?: Options<number>): Property<number>;
  number(description?: string, options?: Options<number>): Property<number>;
  boolean(description?: string, options?: Options<boolean>): Property<boolean>;
  oneOf<const W extends readonly string[]>(words: W, description?: string, options?: Options<W[number]>): Property<W[number]>;
  array<T>(items: Property<T, boolean>, description?: string, options?: Options<T[]>): Property<T[]>;
  object<P extends Properties>(properties: P, description?: string, options?: Options<Infer<P>>): Property<Infer<P>>;
  map<T>(values: Property<T, boolean>, description?: string, options?: Options<Record<string, T>>): Property<Record<string, T>>;
  schema<T = unknown>(schema: JsonSchema, description?: string, options?: Options<T>): Property<T>;
};

/** The contract's `error-kind`, by which gateway and agent decide what to do. */
export type ErrorKind = import('toolgate:plugin/types@0.1.1').ErrorKind;

/** Why a tool has no result. The host scrubs and cuts every text in it. */
export declare class ToolError extends Error {
  constructor(kind: ErrorKind, message: string, more?: {
    /** Stable provider or plugin code, such as `channel_not_found`. */
    code?: string;
    retryAfterMs?: number;
    httpStatus?: number;
    /** JSON Pointer into the arguments (RFC 6901). */
    field?: string;
    details?: unknown;
  });
  kind: ErrorKind;
  code?: string;
  retryAfterMs?: number;
  httpStatus?: number;
  field?: string;
  details?: unknown;
  static invalid(field: string, message: string): ToolError;
  static notFound(message: string): ToolError;
  static upstream(message: string): ToolError;
  static internal(message: string): ToolError;
}

/** The error that an error response means, with the provider's own message; `text` is its body. */
export declare function problem(response: Response, text: string): ToolError;

export type LogLevel = import('toolgate:plugin/call@0.1.1').LogLevel;

/** One running call. */
export declare class Context {
  /** The gateway's session, for tools of several steps. */
  readonly session: string | undefined;
  /** The cursor of the page that the caller asks for; undefined for the first page. */
  readonly cursor: string | undefined;
  /** The platform's `fetch`; a request without an answer is a `ToolError`. */
  fetch(address: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The JSON that an address answers; an answer outside 200-299 is a `ToolError` by the general rule. */
  json(address: string | URL | Request, init?: RequestInit): Promise<any>;
  /** An operator's setting or a connection parameter; undefined when unset. Never a secret. */
  config(key: string): any;
  /** The cursor of a tool whose pages are numbered, `first` for the first page. */
  pageNumber(first?: number): number;
  /** Milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
  /** Milliseconds until the call's time limit. */
  remainingMs(): number;
  /** Whether the caller has cancelled the call. */
  cancelled(): boolean;
  randomBytes(count: number): Uint8Array;
  /** A line in the gateway's log. Never put arguments, bodies or personal data into it. */
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void;
  /** How far a long call has come. */
  progress(done: number, total: number | undefined, message: string): void;
  /**
   * A part of the result, sent before the complete one to callers that read a stream of REST. The result has to
   * contain it too: most callers do not read the stream.
   */
  partial(data: unknown): void;
  /** Small state of the session and this service; values are JSON. Needs the capability `kv`. */
  readonly kv: {
    get(key: string): { value: any; version: number } | undefined;
    /** `ifVersion`: writes only over that version, with 0 only a new key; answers the new version. */
    set(key: string, value: unknown, options?: { ttlSeconds?: number; ifVersion?: number }): number;
    delete(key: string): void;
    keys(prefix?: string, cursor?: string): [string[], string | undefined];
  };
  /** Files that stay on the host for the length of the call. Needs the capability `blobs`. */
  readonly blobs: Pick<typeof import('toolgate:plugin/blobs@0.1.1'), 'create' | 'open'>;
}

/** A result with the next cursor, a summary and files. */
export declare class Output {
  constructor(data: unknown, more?: { nextCursor?: string; summary?: string; files?: unknown[] });
  data: unknown;
  nextCursor?: string;
  summary?: string;
  files: unknown[];
}

/** One page. `nextCursor` is the cursor of the next page, undefined at the end. */
export declare function page(data: unknown, nextCursor?: string): Output;

export interface Tool {
  readonly name: string;
}

/** Makes a function a tool. */
export declare function tool<P extends Properties = {}>(spec: {
  /** The action's name without the service. */
  name: string;
  title?: string;
  /** People and models choose the tool by it: what it does, what it answers, what to do first. */
  description: string;
  effect: 'read' | 'write' | 'destructive';
  /** What it takes; a JSON Schema object for what `s` cannot express. */
  input?: P | (JsonSchema & { type: 'object' });
  output?: JsonSchema;
  idempotent?: boolean;
  /** Adds the argument `cursor`. */
  paginated?: boolean;
  /** Slots it may use, best first; all unless given. */
  auth?: string[];
  /** It also runs without a connection. */
  authOptional?: boolean;
  scopes?: string[];
  keywords?: string[];
  /** What people say when they want the tool, at most eight, for the search: `what do I have to pay this month`. */
  requests?: string[];
  /** What a reading tool sends besides GET and HEAD: `POST https://api.example.com/search`, `GRAPHQL https://...`. */
  queries?: string[];
  /** Events that the gateway finds by calling a reading tool from time to time, in the manifest's form. */
  triggers?: Trigger[];
  examples?: Record<string, unknown>[];
  deprecated?: string;
  run(args: Infer<P>, cx: Context): unknown;
}): Tool;

/** One event of a reading tool: where its result lists items, and what makes two of them the same one. */
export interface Trigger {
  /** The event is `trigger.<service>.<name>`. */
  name: string;
  title: string;
  description: string;
  /** Arguments of every call; a user chooses the others. */
  arguments?: Record<string, unknown>;
  /** JSON Pointer to the list in the result; empty where the result is the list. */
  items: string;
  /** One to four JSON Pointers within an item that identify it together. */
  id: string[];
  /** JSON Pointer within an item to the time at which it came to be. */
  time?: string;
  /** Only where the service lists what is new before everything that was seen. */
  order?: 'newest_first';
  /** Seconds between two polls where the user names none; 300 if absent. */
  interval_s?: number;
}

/** A plugin, as a module exports it by default. */
export interface Plugin {
  readonly manifest: Record<string, any>;
  readonly tools: Map<string, Tool>;
}

/** The manifest's keys in their JSON form, and the tools. */
export declare function definePlugin(plugin: {
  service: string;
  title: string;
  version: string;
  description: string;
  homepage?: string;
  categories?: string[];
  hosts?: string[];
  /** Headers in addition to those that every plugin may set; `x-meta-*` is a pattern. */
  request_headers?: string[];
  /** Headers of answers in addition to those that every plugin may read. */
  response_headers?: string[];
  /** Media types of answers in addition to JSON, XML and text: `application/pdf`, `image/*`. */
  response_types?: string[];
  /** `wasi-http` (for `fetch`), `kv`, `blobs`; `['wasi-http']` unless given. */
  capabilities?: ('wasi-http' | 'kv' | 'blobs')[];
  auth?: Record<string, unknown>[];
  parameters?: Record<string, unknown>[];
  config?: Record<string, unknown>[];
  limits?: { timeout_ms?: number; memory_mib?: number; response_mib?: number };
  tools: Tool[];
}): Plugin;

/**
 * A path in which each value is one segment, percent-encoded: path`/books/${id}`. A value that is empty, `.` or `..` is a
 * `ToolError`: the address would mean something else.
 */
export declare function path(texts: TemplateStringsArray, ...values: (string | number | bigint | boolean)[]): string;

/** The fields of an answer that an agent needs: `name`, `path/to/value`, `name=path/to/value`, `*` for every element. */
export declare function pick(value: unknown, fields: string[]): Record<string, any>;
export declare function pickEach(list: unknown, fields: string[]): Record<string, any>[];
