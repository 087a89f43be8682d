/**
 * Schemas as each model's provider takes them, and arguments back as the tool takes them.
 *
 * `lower` follows local references, merges what providers do not take, and keeps what they do. What it had
 * to rename or to turn into text is undone by `restore`.
 *
 * - Every dialect: `type: object` wherever `properties` stands and at the top, no `$ref`, no `allOf`, no
 *   alternatives at the top, property names of `A-Za-z0-9_.-`, at most 64 characters.
 * - `openai`: no `default`, no `const`; both are said in the description or as `enum`.
 * - `gemini`: its subset of OpenAPI alone; `nullable` for null, `enum` for texts alone, and an object
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
/** References can make a small schema endless; past this many parts the rest is anything. */
const PARTS_MAX = 20_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const KEY = /^[A-Za-z0-9_.-]{1,64}$/;
/** Said elsewhere, or of no use to a model. */
const DROPPED = new Set(["$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example", "deprecated"]);
const GEMINI = new Set([
  "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
  "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
]);
const GEMINI_FORMATS: Record<string, string[]> = { string: ["date-time"], integer: ["int32", "int64"], number: ["float", "double"] };

/** A tool's name as every provider takes it: at most 64 of `A-Za-z0-9_-`, not beginning with a digit. */
export function toolName(tool_name: string): string {
  return short(tool_name, NAME, /[^A-Za-z0-9_-]/gu);
}

/** A tool's input schema in a dialect. */
export function lower(schema: Schema, dialect: Dialect): Lowered {
  const root = isObject(schema) ? schema : {};
  const way = new WayBack();
  const made = new Lowering(root, dialect).top(root, way);
  return {
    schema: made,
    restore: (args) => {
      const restored = way.restore(args);
      return isObject(restored) ? restored : args;
    },
  };
}

/** What has to be undone in a value: names of properties, and objects that were sent as text. */
class WayBack {
  names = new Map<string, string>();
  properties = new Map<string, WayBack>();
  items: WayBack | undefined;
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
      const way = this.properties.get(name);
      return [this.names.get(name) ?? name, way ? way.restore(inner) : inner];
    });
    return Object.fromEntries(entries);
  }

  /** A way that an alternative fills and the value's own way shares. */
  shared(): WayBack {
    const inner = new WayBack();
    inner.names = this.names;
    inner.properties = this.properties;
    inner.items = this.items ??= new WayBack();
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

  top(schema: Schema, way: WayBack): Schema {
    let [merged, seen] = this.#merged(schema, new Set());
    const branches = merged["oneOf"] || merged["anyOf"];
    delete merged["oneOf"];
    delete merged["anyOf"];
    if (Array.isArray(branches)) merged = this.#united(merged, branches, seen);
    merged["type"] = "object";
    if (!isObject(merged["properties"])) merged["properties"] = {};
    for (const word of ["enum", "not", "if", "then", "else", "const"]) delete merged[word];
    return this.#one(merged, way, 0, seen);
  }

  /** Alternatives as one object: every property of any, required what all require. */
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

  /** The schema with its reference followed and its `allOf` laid into it, and the references on the way. */
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
      const [laid, after] = this.#merged(part, seen);
      seen = after;
      for (const [key, value] of Object.entries(laid)) {
        const there = found[key];
        if (key === "properties" && isObject(there) && isObject(value)) found[key] = { ...value, ...there };
        else if (key === "required" && Array.isArray(there) && Array.isArray(value)) found[key] = [...new Set([...there, ...value])];
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

  /** One schema, its references followed. `true`, and what lies too deep, is anything. */
  #one(schema: unknown, way: WayBack, depth: number, before: Set<string>): Schema {
    const [made, seen] = this.#merged(schema, before);
    if (depth > DEPTH_MAX) return this.#anything(made, way);
    if (isObject(made["properties"]) || "additionalProperties" in made) made["type"] ??= "object";
    if ("const" in made && this.#dialect !== "anthropic") {
      made["enum"] = [made["const"]];
      delete made["const"];
    }
    if ("default" in made && this.#dialect !== "anthropic") {
      note(made, `Default: ${JSON.stringify(made["default"])}.`);
      delete made["default"];
    }
    this.#properties(made, way, depth, seen);
    this.#items(made, way, depth, seen);
    for (const word of ["oneOf", "anyOf"]) this.#branches(made, word, way, depth, seen);
    if (isObject(made["additionalProperties"])) {
      made["additionalProperties"] = this.#one(made["additionalProperties"], new WayBack(), depth + 1, seen);
    }
    return this.#dialect === "gemini" ? this.#gemini(made, way, depth) : made;
  }

  #branches(made: Schema, word: string, way: WayBack, depth: number, seen: Set<string>): void {
    let branches = made[word];
    if (!Array.isArray(branches)) return;
    const isNull = (part: unknown): boolean => isObject(part) && part["type"] === "null";
    if (this.#dialect === "gemini" && branches.some(isNull)) {
      branches = branches.filter((part) => !isNull(part));
      made["nullable"] = true;
    }
    const ways = (branches as unknown[]).map(() => way.shared());
    const lowered = (branches as unknown[]).map((part, at) => this.#one(part, ways[at] as WayBack, depth + 1, seen));
    // A text among the alternatives has to stay the text it is.
    const texts = lowered.some((part, at) => !ways[at]?.isText && (part["type"] ?? "string") === "string");
    way.isText ||= !texts && ways.some((inner) => inner.isText);
    made[word] = lowered;
  }

  #properties(made: Schema, way: WayBack, depth: number, seen: Set<string>): void {
    if (!isObject(made["properties"])) return;
    const renamed = new Map<string, string>();
    const lowered: [string, Schema][] = [];
    for (const [key, value] of Object.entries(made["properties"])) {
      const name = short(key, KEY, /[^A-Za-z0-9_.-]/gu);
      renamed.set(key, name);
      if (name !== key) way.names.set(name, key);
      const inner = way.properties.get(name) ?? new WayBack();
      way.properties.set(name, inner);
      lowered.push([name, this.#one(value, inner, depth + 1, seen)]);
    }
    made["properties"] = Object.fromEntries(lowered);
    if (Array.isArray(made["required"])) {
      const required = made["required"].flatMap((key) => renamed.get(key) ?? []);
      if (required.length > 0) made["required"] = required;
      else delete made["required"];
    }
  }

  #items(made: Schema, way: WayBack, depth: number, seen: Set<string>): void {
    const kinds = made["type"];
    if (kinds !== "array" && !(Array.isArray(kinds) && kinds.includes("array")) && !("items" in made)) return;
    way.items ??= new WayBack();
    made["items"] = this.#one(isObject(made["items"]) ? made["items"] : {}, way.items, depth + 1, seen);
  }

  #anything(made: Schema, way: WayBack): Schema {
    const kept: Schema = "description" in made ? { description: made["description"] } : {};
    return this.#dialect === "gemini" ? this.#asText(kept, way) : kept;
  }

  /** A value without a known shape, which the model writes as JSON text. */
  #asText(made: Schema, way: WayBack): Schema {
    way.isText = true;
    const text: Schema = { type: "string" };
    if ("description" in made) text["description"] = made["description"];
    if (made["nullable"]) text["nullable"] = true;
    note(text, "As JSON text.");
    return text;
  }

  #gemini(given: Schema, way: WayBack, depth: number): Schema {
    let made = given;
    const branches = (made["oneOf"] || made["anyOf"]) as Schema[] | undefined;
    delete made["oneOf"];
    delete made["anyOf"];
    if (Array.isArray(made["type"])) {
      const kinds = made["type"] as unknown[];
      if (kinds.includes("null")) made["nullable"] = true;
      const rest = kinds.filter((kind) => kind !== "null");
      if (rest.length !== 1) return this.#asText(made, way);
      made["type"] = rest[0];
    }
    if (branches?.length === 1) {
      const { type: _, ...own } = made;
      made = { ...branches[0], ...own };
    } else if (branches && branches.length > 1) {
      const kept = Object.entries(made).filter(([key]) => key === "description" || key === "nullable");
      return { ...Object.fromEntries(kept), anyOf: branches };
    }
    if (made["type"] === "null") Object.assign(made, { type: "string", nullable: true });
    this.#values(made);
    const kind = made["type"];
    const shapeless = kind === "object" && Object.keys(fields(made["properties"])).length === 0 && depth > 0;
    if (typeof kind !== "string" || shapeless) return this.#asText(made, way);
    if ("format" in made && !GEMINI_FORMATS[kind]?.includes(made["format"] as string)) delete made["format"];
    return Object.fromEntries(Object.entries(made).filter(([key]) => GEMINI.has(key)));
  }

  #values(made: Schema): void {
    let values = made["enum"];
    if (!Array.isArray(values)) return;
    if (values.includes(null)) {
      made["nullable"] = true;
      values = values.filter((value) => value !== null);
    }
    const given = values as unknown[];
    const kind = made["type"];
    if ((kind === undefined || kind === "string") && given.length > 0 && given.every((value) => typeof value === "string")) {
      Object.assign(made, { type: "string", enum: given });
      return;
    }
    note(made, `One of: ${given.map((value) => JSON.stringify(value)).join(", ")}.`);
    delete made["enum"];
    if (kind === undefined && given.length > 0 && given.every((value) => Number.isInteger(value))) made["type"] = "integer";
  }
}

function short(text: string, allowed: RegExp, others: RegExp): string {
  if (allowed.test(text)) return text;
  const ending = "_" + createHash("sha256").update(text).digest("hex").slice(0, 8);
  let begin = text.replace(others, "_");
  if (!/^[A-Za-z_]/.test(begin)) begin = "_" + begin;
  return begin.slice(0, NAME_CHARS_MAX - ending.length) + ending;
}

function note(made: Schema, sentence: string): void {
  const there = typeof made["description"] === "string" ? made["description"].trim() : "";
  made["description"] = `${there} ${sentence}`.trim();
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
