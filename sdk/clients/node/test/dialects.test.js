/** Conversion of schemas: the cases that all clients share, and the rules of each provider for the schemas that ship. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { lower, toolName } from "toolgate";

const read = (name) => JSON.parse(readFileSync(process.env[name], "utf8"));
const table = read("TOOLGATE_DIALECTS");
const catalog = read("TOOLGATE_CATALOG");
const DIALECTS = ["openai", "anthropic", "gemini"];
const GEMINI = new Set(
  "type format title description nullable enum items properties required anyOf minItems maxItems minimum maximum minLength maxLength pattern".split(" "),
);

/** What a provider would refuse. */
function problems(schema, dialect, at = "") {
  if (typeof schema !== "object" || schema === null) return [`${at}: no object`];
  const found = [];
  const top = at === "";
  if (top && ![schema.type].flat().includes("object")) found.push("the top is not an object");
  for (const word of ["$ref", "$defs", "allOf", ...(top ? ["oneOf", "anyOf", "enum", "not"] : [])]) {
    if (word in schema) found.push(`${at}: has ${word}`);
  }
  if (dialect !== "anthropic" && ("default" in schema || "const" in schema)) found.push(`${at}: has default or const`);
  if ("properties" in schema && ![schema.type].flat().includes("object")) found.push(`${at}: properties without an object`);
  const properties = Object.entries(schema.properties ?? {});
  if (dialect === "gemini") {
    for (const word of Object.keys(schema)) if (!GEMINI.has(word)) found.push(`${at}: has ${word}`);
    if (typeof schema.type !== "string" && !("anyOf" in schema)) found.push(`${at}: has the type ${schema.type}`);
    if (schema.type === "object" && properties.length === 0 && !top) found.push(`${at}: an object without properties`);
    if (schema.type === "array" && !("items" in schema)) found.push(`${at}: an array without items`);
    if ("enum" in schema && schema.enum.some((value) => typeof value !== "string")) found.push(`${at}: an enum of no texts`);
  }
  for (const [key, value] of properties) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(key)) found.push(`${at}: the name ${key}`);
    found.push(...problems(value, dialect, `${at}/${key}`));
  }
  for (const key of schema.required ?? []) if (!(key in (schema.properties ?? {}))) found.push(`${at}: requires ${key}`);
  if ("items" in schema) found.push(...problems(schema.items, dialect, `${at}/items`));
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) found.push(...problems(branch, dialect, `${at}/|`));
  return found;
}

for (const row of table) {
  for (const dialect of DIALECTS) {
    test(`${row.name}: ${dialect}`, () => {
      const lowered = lower(row.schema, dialect);
      assert.deepEqual(lowered.schema, row[dialect]);
      assert.deepEqual(problems(lowered.schema, dialect), []);
      if (row.arguments?.[dialect]) assert.deepEqual(lowered.restore(row.arguments[dialect]), row.restored[dialect]);
    });
  }
}

test("every schema that ships", () => {
  assert.ok(catalog.length > 2_000);
  for (const dialect of DIALECTS) {
    const found = catalog.flatMap((tool) => problems(lower(tool.inputSchema, dialect).schema, dialect).map((problem) => tool.name + problem));
    assert.deepEqual(found, []);
  }
});

test("every name that ships is kept, and others are made to fit", () => {
  for (const tool of catalog) assert.equal(toolName(tool.name), tool.name);
  const made = ["a".repeat(80), "a".repeat(79) + "b", "a.b", "a b", "7zip", "\u00fc"].map(toolName);
  assert.equal(new Set(made).size, made.length);
  for (const name of made) assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
});

test("a schema that grows without end is bounded", () => {
  const names = [...Array(8).keys()];
  const row = Object.fromEntries(names.map((n) => [`p${n}`, { $ref: `#/$defs/d${n}` }]));
  const endless = { type: "object", properties: row, $defs: Object.fromEntries(names.map((n) => [`d${n}`, { type: "object", properties: row }])) };
  let deep = {};
  for (let n = 0; n < 400; n += 1) deep = { type: "object", properties: { a: deep } };
  for (const dialect of DIALECTS) {
    for (const schema of [endless, deep]) assert.deepEqual(problems(lower(schema, dialect).schema, dialect), []);
  }
  for (const invalid of [{ $ref: 7 }, { allOf: 1 }, { properties: [] }, { type: 7 }, { $ref: "#/nowhere" }, { $ref: "http://a" }]) {
    assert.equal(lower(invalid, "gemini").schema.type, "object");
  }
});
