// Writes what a vendor's TypeScript client says of its API as an OpenAPI document: `types.cjs KIND FOLDER OUT`.
//
// KIND is notion, slack or stripe. The types are read with the TypeScript compiler; nothing is sent.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const ts = require(process.env.TYPESCRIPT ?? "typescript");

const [kind, folder, out] = process.argv.slice(2);
const read = { notion, slack, stripe }[kind];
const schemas = {};
const paths = {};
let checker;

/** The JSON Schema of a type; an object type is written once and referred to. */
function schema(type, depth = 0) {
  if (depth > 40) return {};
  const { flags } = type;
  if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
  if (flags & ts.TypeFlags.StringLiteral) return { type: "string", enum: [type.value] };
  if (flags & ts.TypeFlags.NumberLiteral) return { type: "number", enum: [type.value] };
  if (flags & ts.TypeFlags.BooleanLiteral) return { type: "boolean" };
  if (flags & ts.TypeFlags.StringLike) return { type: "string" };
  if (flags & ts.TypeFlags.NumberLike) return { type: "number" };
  if (flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
  if (flags & ts.TypeFlags.Null) return { type: "null" };
  if (type.isUnion()) return union(type, depth);
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const items = checker.getTypeArguments(type)[0];
    return { type: "array", items: items ? schema(items, depth + 1) : {} };
  }
  const name = (type.aliasSymbol ?? type.symbol)?.name;
  if (type.getCallSignatures().length || ["Buffer", "Stream", "Readable", "ReadStream", "Uint8Array", "Date"].includes(name)) return {};
  const key = `t${type.id}`;
  if (!(key in schemas)) {
    schemas[key] = {};
    schemas[key] = object(type, depth);
  }
  return { $ref: `#/components/schemas/${key}` };
}

function union(type, depth) {
  const members = type.types.filter((member) => !(member.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never)));
  const literals = members.filter((member) => member.isStringLiteral());
  const others = members.filter((member) => !member.isStringLiteral());
  const any = others.map((member) => schema(member, depth + 1));
  if (literals.length) any.push({ type: "string", enum: literals.map((member) => member.value) });
  return any.length === 1 ? any[0] : { anyOf: any };
}

function object(type, depth) {
  const properties = {};
  const required = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const of = checker.getTypeOfSymbol(property);
    properties[property.name] = schema(of, depth + 1);
    const missing = of.isUnion() && of.types.some((member) => member.flags & ts.TypeFlags.Undefined);
    if (!(property.flags & ts.SymbolFlags.Optional) && !missing) required.push(property.name);
    if (property.getJsDocTags(checker).some((tag) => tag.name === "deprecated")) {
      properties[property.name] = { ...properties[property.name], deprecated: true };
    }
  }
  const index = checker.getIndexInfosOfType(type)[0];
  const more = index ? schema(index.type, depth + 1) : undefined;
  return { type: "object", properties, required, ...(index ? { additionalProperties: Object.keys(more).length ? more : true } : {}) };
}

/** The properties of all members of a type, each with whether every member requires it. */
function members(type) {
  const all = type.isUnion() ? type.types.filter((one) => !(one.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void))) : [type];
  const found = new Map();
  for (const member of all) {
    for (const property of checker.getPropertiesOfType(member)) {
      const known = found.get(property.name) ?? { types: [], required: 0 };
      known.types.push(schema(checker.getTypeOfSymbol(property)));
      if (!(property.flags & ts.SymbolFlags.Optional)) known.required += 1;
      found.set(property.name, known);
    }
  }
  const joined = (types) => (types.length === 1 ? types[0] : { anyOf: types });
  return [...found].map(([name, { types, required }]) => ({ name, schema: joined(types), required: required === all.length }));
}

function program(files) {
  const made = ts.createProgram(files, { strict: true, skipLibCheck: true, moduleResolution: ts.ModuleResolutionKind.Node10, target: ts.ScriptTarget.ES2022, types: [] });
  checker = made.getTypeChecker();
  return made;
}

function put(address, method, operation) {
  paths[address] ??= {};
  paths[address][method] ??= operation;
}

const body = (of, media = ["application/json"]) => ({ content: Object.fromEntries(media.map((one) => [one, { schema: of }])) });

function notion() {
  const source = path.join(folder, "build/src/api-endpoints");
  const files = fs.readdirSync(source).filter((file) => file.endsWith(".d.ts")).map((file) => path.join(source, file));
  const made = program(files);
  const types = new Map();
  for (const file of files) {
    const module = checker.getSymbolAtLocation(made.getSourceFile(file));
    for (const one of module ? checker.getExportsOfModule(module) : []) types.set(one.name, one);
  }
  for (const file of fs.readdirSync(source).filter((file) => file.endsWith(".js"))) {
    const endpoints = require(path.resolve(source, file));
    for (const [name, endpoint] of Object.entries(endpoints)) {
      const symbol = types.get(`${name[0].toUpperCase()}${name.slice(1)}Parameters`);
      if (!endpoint?.method || !symbol) continue;
      const address = endpoint.path(new Proxy({}, { get: (_, key) => `{${String(key)}}` }));
      const all = members(checker.getDeclaredTypeOfSymbol(symbol));
      const pick = (names) => all.filter((one) => names.includes(one.name));
      const parameters = pick(endpoint.queryParams ?? []).map((one) => ({ ...one, in: "query" }));
      const fields = pick(endpoint.bodyParams ?? []);
      const of = {
        type: "object",
        properties: Object.fromEntries(fields.map((one) => [one.name, one.schema])),
        required: fields.filter((one) => one.required).map((one) => one.name),
      };
      put(`/v1/${address}`, endpoint.method, { parameters, ...(fields.length ? { requestBody: body(of) } : {}) });
    }
  }
}

function slack() {
  const file = path.join(folder, "dist/methods.d.ts");
  const made = program([file]);
  const module = checker.getSymbolAtLocation(made.getSourceFile(file));
  const methods = checker.getExportsOfModule(module).find((one) => one.name === "Methods");
  const walk = (type, name) => {
    for (const property of checker.getPropertiesOfType(type)) {
      const of = checker.getTypeOfSymbol(property);
      const called = name ? `${name}.${property.name}` : property.name;
      const signature = of.getCallSignatures()[0];
      if (signature && name) {
        const argument = signature.parameters[0];
        const all = argument ? members(checker.getTypeOfSymbol(argument)) : [];
        // Every method is called with either verb, with arguments in the query, a form or JSON.
        const fields = all.filter((one) => one.name !== "token");
        const of = {
          type: "object",
          properties: Object.fromEntries(fields.map((one) => [one.name, one.schema])),
          required: fields.filter((one) => one.required).map((one) => one.name),
        };
        put(`/api/${called}`, "get", { parameters: fields.map((one) => ({ ...one, in: "query" })) });
        put(`/api/${called}`, "post", { requestBody: body(of, ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]) });
      } else if (!signature && of.flags & ts.TypeFlags.Object) {
        walk(of, called);
      }
    }
  };
  walk(checker.getDeclaredTypeOfSymbol(methods), "");
}

function stripe() {
  const source = path.join(folder, "cjs/resources");
  const files = fs.readdirSync(source, { recursive: true }).filter((file) => file.endsWith(".d.ts")).map((file) => path.join(source, file));
  const made = program(files);
  for (const file of files) {
    const code = fs.readFileSync(file.replace(/\.d\.ts$/, ".js"), "utf8");
    const requests = new Map();
    for (const [, name, verb, address] of code.matchAll(/^ {4}(\w+)\([^)]*\) \{\s+return this\._makeRequest\('(\w+)', [`']([^`']+)[`']/gm)) {
      requests.set(name, [verb, address.replace(/\$\{encodeURIComponent\((\w+)\)\}/g, "{$1}")]);
    }
    const module = checker.getSymbolAtLocation(made.getSourceFile(file));
    for (const one of module ? checker.getExportsOfModule(module) : []) {
      if (!(one.flags & ts.SymbolFlags.Class)) continue;
      for (const method of checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(one))) {
        const [verb, address] = requests.get(method.name) ?? [];
        if (!verb || !address.startsWith("/v1/")) continue;
        const signatures = checker.getTypeOfSymbol(method).getCallSignatures();
        const argument = signatures.map((signature) => signature.parameters.find((parameter) => parameter.name === "params")).find(Boolean);
        const all = argument ? members(checker.getNonNullableType(checker.getTypeOfSymbol(argument))) : [];
        const of = {
          type: "object",
          properties: Object.fromEntries(all.map((field) => [field.name, field.schema])),
          required: all.filter((field) => field.required).map((field) => field.name),
        };
        const query = { parameters: all.map((field) => ({ ...field, in: "query" })) };
        put(address, verb.toLowerCase(), verb === "POST" ? { requestBody: body(of, ["application/x-www-form-urlencoded"]) } : query);
      }
    }
  }
}

read();
fs.writeFileSync(out, JSON.stringify({ openapi: "3.1.0", info: { title: kind, version: "" }, paths, components: { schemas } }));
console.log(`${kind}: ${Object.keys(paths).length} paths`);
