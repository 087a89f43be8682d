/**
 * Schemas in the form that each model's provider accepts, and arguments back in the form that the tool expects.
 *
 * `lower` resolves local references, merges what providers do not accept, and keeps the rest. `restore` undoes what
 * `lower` renamed or turned into text.
 *
 * - Every dialect: `type: object` at the top and wherever there are `properties`, no `$ref`, no `allOf`, no
 *   alternatives at the top, property names of `A-Za-z0-9_.-`, at most 64 characters.
 * - `openai`: no `default`, no `const`; they become a sentence of the description and an `enum`.
 * - `gemini`: only its subset of OpenAPI; `nullable` for null, `enum` only for strings, and an object
 *   without known properties as JSON text.
 */

import { createHash } from "node:crypto";

export type Dialect = "openai" | "anthropic" | "gemini";
export type Schema = Record<string, unknown>;

export interface Lowered {
  schema: Schema;
  /** The arguments as the tool's own schema has them. */
  restore(args: Record<string, unknown>): Record<string, unknown>;
}

const NAME_CHARS_MAX = 64;
const DEPTH_MAX = 24;
/** References can make a small schema endless; parts beyond this number become schemas without constraints. */
const PARTS_MAX = 20_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const KEY = /^[A-Za-z0-9_.-]{1,64}$/;
/** Keywords that `lower` resolves, or that are of no use to a model. */
const DROPPED = new Set(["$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example", "deprecated"]);
const GEMINI = new Set([
  "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
  "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
]);
const GEMINI_FORMATS: Record<string, string[]> = { string: ["date-time"], integer: ["int32", "int64"], number: ["float", "double"] };

/** A tool's name in a form that every provider accepts: at most 64 of `A-Za-z0-9_-`, not beginning with a digit. */
export function toolName(tool_name: string): string {
  return short(tool_name, NAME, /[^A-Za-z0-9_-]/gu);
}

/** A tool's input schema in a dialect. */
export function lower(schema: Schema, dialect: Dialect): Lowered {
  const root = isObject(schema) ? schema : {};
  const restorer = new ArgumentRestorer();
  const lowered = new Lowering(root, dialect).top(root, restorer);
  return {
    schema: lowered,
    restore: (args) => {
      const restored = restorer.restore(args);
      return isObject(restored) ? restored : args;
    },
  };
}

/** Undoes in a value what `lower` changed: renamed properties, and values that the model writes as JSON text. */
class ArgumentRestorer {
  names = new Map<string, string>();
  properties = new Map<string, ArgumentRestorer>();
  items: ArgumentRestorer | undefined;
  isText = false;

  restore(value: unknown): unknown {
    if (this.isText && typeof value === "string") {
      try {
        return JSON.parse(value);
      } catch {
        return value;
      }
    }
    if (Array.isArray(value)) return this.items ? value.map((inner) => this.items?.restore(inner)) : value;
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
      const restorer = this.properties.get(name);
      return [this.names.get(name) ?? name, restorer ? restorer.restore(inner) : inner];
    });
    return Object.fromEntries(entries);
  }

  /** The restorer of one alternative. It shares names, properties and items with this one, but not `isText`. */
  forAlternative(): ArgumentRestorer {
    const inner = new ArgumentRestorer();
    inner.names = this.names;
    inner.properties = this.properties;
    inner.items = this.items ??= new ArgumentRestorer();
    return inner;
  }
}

class Lowering {
  readonly #root: Schema;
  readonly #dialect: Dialect;
  #parts = 0;

  constructor(root: Schema, dialect: Dialect) {
    this.#root = root;
    this.#dialect = dialect;
  }

  top(schema: Schema, restorer: ArgumentRestorer): Schema {
    let [merged, seen] = this.#merged(schema, new Set());
    const branches = merged["oneOf"] || merged["anyOf"];
    delete merged["oneOf"];
    delete merged["anyOf"];
    if (Array.isArray(branches)) merged = this.#united(merged, branches, seen);
    merged["type"] = "object";
    if (!isObject(merged["properties"])) merged["properties"] = {};
    for (const word of ["enum", "not", "if", "then", "else", "const"]) delete merged[word];
    return this.#lower(merged, restorer, 0, seen);
  }

  /** The alternatives as one object: it has the properties of all, and requires what each of them requires. */
  #united(base: Schema, branches: unknown[], seen: Set<string>): Schema {
    const parts = branches.filter(isObject).map((branch) => this.#merged(branch, seen)[0]);
    const properties = { ...fields(base["properties"]) };
    for (const part of parts) {
      for (const [key, value] of Object.entries(fields(part["properties"]))) {
        if (!Object.hasOwn(properties, key)) properties[key] = value;
      }
    }
    const required = [...words(base["required"])];
    for (const word of words(parts[0]?.["required"])) {
      if (!required.includes(word) && parts.every((part) => words(part["required"]).includes(word))) required.push(word);
    }
    return { ...base, properties, ...(required.length > 0 ? { required } : {}) };
  }

  /** The schema with its reference resolved and its `allOf` merged, and the references that were followed. */
  #merged(schema: unknown, seen: Set<string>): [Schema, Set<string>] {
    this.#parts += 1;
    if (!isObject(schema) || this.#parts > PARTS_MAX) return [{}, seen];
    const found: Schema = Object.fromEntries(Object.entries(schema).filter(([key]) => !DROPPED.has(key) && !key.startsWith("x-")));
    const reference = found["$ref"];
    const parts = Array.isArray(found["allOf"]) ? [...(found["allOf"] as unknown[])] : [];
    delete found["$ref"];
    delete found["allOf"];
    if (typeof reference === "string" && !seen.has(reference)) {
      seen = new Set(seen).add(reference);
      parts.unshift(this.#target(reference));
    }
    for (const part of parts) {
      const [inner, after] = this.#merged(part, seen);
      seen = after;
      for (const [key, value] of Object.entries(inner)) {
        const own = found[key];
        if (key === "properties" && isObject(own) && isObject(value)) found[key] = { ...value, ...own };
        else if (key === "required" && Array.isArray(own) && Array.isArray(value)) found[key] = [...new Set([...own, ...value])];
        else if (!Object.hasOwn(found, key)) found[key] = value;
      }
    }
    return [found, seen];
  }

  #target(reference: string): unknown {
    if (!reference.startsWith("#")) return {};
    let at: unknown = this.#root;
    for (const part of reference.slice(1).split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return at;
  }

  /** Lowers one schema. `true`, and what is nested too deep, becomes a schema without constraints. */
  #lower(schema: unknown, restorer: ArgumentRestorer, depth: number, before: Set<string>): Schema {
    const [merged, seen] = this.#merged(schema, before);
    if (depth > DEPTH_MAX) return this.#unconstrained(merged, restorer);
    if (isObject(merged["properties"]) || "additionalProperties" in merged) merged["type"] ??= "object";
    if ("const" in merged && this.#dialect !== "anthropic") {
      merged["enum"] = [merged["const"]];
      delete merged["const"];
    }
    if ("default" in merged && this.#dialect !== "anthropic") {
      note(merged, `Default: ${JSON.stringify(merged["default"])}.`);
      delete merged["default"];
    }
    this.#properties(merged, restorer, depth, seen);
    this.#items(merged, restorer, depth, seen);
    for (const word of ["oneOf", "anyOf"]) this.#branches(merged, word, restorer, depth, seen);
    if (isObject(merged["additionalProperties"])) {
      merged["additionalProperties"] = this.#lower(merged["additionalProperties"], new ArgumentRestorer(), depth + 1, seen);
    }
    return this.#dialect === "gemini" ? this.#gemini(merged, restorer, depth) : merged;
  }

  #branches(schema: Schema, word: string, restorer: ArgumentRestorer, depth: number, seen: Set<string>): void {
    let branches = schema[word];
    if (!Array.isArray(branches)) return;
    const isNull = (part: unknown): boolean => isObject(part) && part["type"] === "null";
    if (this.#dialect === "gemini" && branches.some(isNull)) {
      branches = branches.filter((part) => !isNull(part));
      schema["nullable"] = true;
    }
    const restorers = (branches as unknown[]).map(() => restorer.forAlternative());
    const lowered = (branches as unknown[]).map((part, at) => this.#lower(part, restorers[at] as ArgumentRestorer, depth + 1, seen));
    // If one of the alternatives is a string, a string has to stay as it is.
    const texts = lowered.some((part, at) => !restorers[at]?.isText && (part["type"] ?? "string") === "string");
    restorer.isText ||= !texts && restorers.some((inner) => inner.isText);
    schema[word] = lowered;
  }

  #properties(schema: Schema, restorer: ArgumentRestorer, depth: number, seen: Set<string>): void {
    if (!isObject(schema["properties"])) return;
    const renamed = new Map<string, string>();
    const lowered: [string, Schema][] = [];
    for (const [key, value] of Object.entries(schema["properties"])) {
      const name = short(key, KEY, /[^A-Za-z0-9_.-]/gu);
      renamed.set(key, name);
      if (name !== key) restorer.names.set(name, key);
      const inner = restorer.properties.get(name) ?? new ArgumentRestorer();
      restorer.properties.set(name, inner);
      lowered.push([name, this.#lower(value, inner, depth + 1, seen)]);
    }
    schema["properties"] = Object.fromEntries(lowered);
    if (Array.isArray(schema["required"])) {
      const required = schema["required"].flatMap((key) => renamed.get(key) ?? []);
      if (required.length > 0) schema["required"] = required;
      else delete schema["required"];
    }
  }

  #items(schema: Schema, restorer: ArgumentRestorer, depth: number, seen: Set<string>): void {
    const kinds = schema["type"];
    if (kinds !== "array" && !(Array.isArray(kinds) && kinds.includes("array")) && !("items" in schema)) return;
    restorer.items ??= new ArgumentRestorer();
    schema["items"] = this.#lower(isObject(schema["items"]) ? schema["items"] : {}, restorer.items, depth + 1, seen);
  }

  #unconstrained(schema: Schema, restorer: ArgumentRestorer): Schema {
    const bare: Schema = "description" in schema ? { description: schema["description"] } : {};
    return this.#dialect === "gemini" ? this.#asText(bare, restorer) : bare;
  }

  /** A value without a known shape, which the model writes as JSON text. */
  #asText(schema: Schema, restorer: ArgumentRestorer): Schema {
    restorer.isText = true;
    const text: Schema = { type: "string" };
    if ("description" in schema) text["description"] = schema["description"];
    if (schema["nullable"]) text["nullable"] = true;
    note(text, "As JSON text.");
    return text;
  }

  #gemini(given: Schema, restorer: ArgumentRestorer, depth: number): Schema {
    let schema = given;
    const branches = (schema["oneOf"] || schema["anyOf"]) as Schema[] | undefined;
    delete schema["oneOf"];
    delete schema["anyOf"];
    if (Array.isArray(schema["type"])) {
      const kinds = schema["type"] as unknown[];
      if (kinds.includes("null")) schema["nullable"] = true;
      const rest = kinds.filter((kind) => kind !== "null");
      if (rest.length !== 1) return this.#asText(schema, restorer);
      schema["type"] = rest[0];
    }
    if (branches?.length === 1) {
      const { type: _, ...own } = schema;
      schema = { ...branches[0], ...own };
    } else if (branches && branches.length > 1) {
      const described = Object.entries(schema).filter(([key]) => key === "description" || key === "nullable");
      return { ...Object.fromEntries(described), anyOf: branches };
    }
    if (schema["type"] === "null") Object.assign(schema, { type: "string", nullable: true });
    this.#values(schema);
    const kind = schema["type"];
    const shapeless = kind === "object" && Object.keys(fields(schema["properties"])).length === 0 && depth > 0;
    if (typeof kind !== "string" || shapeless) return this.#asText(schema, restorer);
    if ("format" in schema && !GEMINI_FORMATS[kind]?.includes(schema["format"] as string)) delete schema["format"];
    return Object.fromEntries(Object.entries(schema).filter(([key]) => GEMINI.has(key)));
  }

  #values(schema: Schema): void {
    let values = schema["enum"];
    if (!Array.isArray(values)) return;
    if (values.includes(null)) {
      schema["nullable"] = true;
      values = values.filter((value) => value !== null);
    }
    const given = values as unknown[];
    const kind = schema["type"];
    if ((kind === undefined || kind === "string") && given.length > 0 && given.every((value) => typeof value === "string")) {
      Object.assign(schema, { type: "string", enum: given });
      return;
    }
    note(schema, `One of: ${given.map((value) => JSON.stringify(value)).join(", ")}.`);
    delete schema["enum"];
    if (kind === undefined && given.length > 0 && given.every((value) => Number.isInteger(value))) schema["type"] = "integer";
  }
}

function short(text: string, allowed: RegExp, others: RegExp): string {
  if (allowed.test(text)) return text;
  const ending = "_" + createHash("sha256").update(text).digest("hex").slice(0, 8);
  let begin = text.replace(others, "_");
  if (!/^[A-Za-z_]/.test(begin)) begin = "_" + begin;
  return begin.slice(0, NAME_CHARS_MAX - ending.length) + ending;
}

function note(schema: Schema, sentence: string): void {
  const description = typeof schema["description"] === "string" ? schema["description"].trim() : "";
  schema["description"] = `${description} ${sentence}`.trim();
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fields(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function words(value: unknown): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}
