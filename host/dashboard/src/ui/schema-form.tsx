// A form made of a JSON Schema: what it knows becomes an input, the rest a box for JSON. The value is
// always the arguments as they will be sent; empty inputs are left out of it.

import { useState } from 'react';
import { ApiError } from '../api/client';
import { SelectField, TextArea, TextField } from './field';

/** The part of JSON Schema that the forms read. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  [key: string]: unknown;
}

export type Arguments = Record<string, unknown>;
/** What is wrong, by JSON Pointer. */
export type Violations = Record<string, string>;

/** What a refusal says of the arguments. */
export function violationsOf(error: unknown): Violations {
  const found = error instanceof ApiError ? ((error.details?.violations ?? []) as { path: string; message: string }[]) : [];
  return Object.fromEntries(found.map((violation) => [violation.path, violation.message]));
}

interface Props {
  schema: Schema;
  value: Arguments;
  onChange: (value: Arguments) => void;
  violations?: Violations;
}

export function SchemaForm({ schema, value, onChange, violations = {} }: Props) {
  return <Properties root={schema} schema={schema} value={value} onChange={onChange} path="" violations={violations} depth={0} />;
}

/** Schemas nest deeper than forms should. */
const DEPTH_MAX = 3;

interface Inner {
  root: Schema;
  schema: Schema;
  path: string;
  violations: Violations;
  depth: number;
}

function Properties({ root, schema, value, onChange, path, violations, depth }: Inner & { value: Arguments; onChange: (value: Arguments) => void }) {
  const required = new Set(schema.required ?? []);
  const names = Object.keys(schema.properties ?? {});
  const ordered = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  if (ordered.length === 0) return <p className="muted">Takes no arguments.</p>;
  const set = (name: string, item: unknown) => {
    const { [name]: _, ...rest } = value;
    onChange(item === undefined ? rest : { ...rest, [name]: item });
  };
  return (
    <>
      {ordered.map((name) => (
        <Property
          key={name}
          root={root}
          schema={resolve(root, schema.properties?.[name] ?? {})}
          name={name}
          required={required.has(name)}
          value={value[name]}
          onChange={(item) => set(name, item)}
          path={`${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          violations={violations}
          depth={depth}
        />
      ))}
    </>
  );
}

/** Follows a reference inside the document; others stay as they are. */
function resolve(root: Schema, schema: Schema): Schema {
  const ref = schema['$ref'];
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return schema;
  let found: unknown = root;
  for (const part of ref.slice(2).split('/')) found = (found as Record<string, unknown> | undefined)?.[part];
  return { ...(found as Schema | undefined), ...schema };
}

/** The one type of a schema, beside `null`. */
export function typeOf(schema: Schema): string | null {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  if (types.length === 1) return types[0] ?? null;
  return types.length === 0 && schema.properties ? 'object' : null;
}

interface PropertyProps extends Inner {
  name: string;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Property(props: PropertyProps) {
  const { root, schema, name, required, value, onChange, path, violations, depth } = props;
  const type = typeOf(schema);
  const label = (
    <>
      <span className="mono">{name}</span>
      {required ? <span className="muted"> required</span> : null}
    </>
  );
  const common = { label, hint: hint(schema), wrong: violations[path] ?? null, required };
  if (schema.enum) {
    const options = schema.enum.map((item) => [JSON.stringify(item), String(item)] as const);
    const chosen = value === undefined ? '' : JSON.stringify(value);
    return <SelectField {...common} value={chosen} options={[['', 'not set'], ...options]} onChange={(text) => onChange(text === '' ? undefined : JSON.parse(text))} />;
  }
  if (type === 'boolean') {
    const options = [['', 'not set'], ['true', 'true'], ['false', 'false']] as const;
    return <SelectField {...common} value={value === undefined ? '' : String(value)} options={options} onChange={(text) => onChange(text === '' ? undefined : text === 'true')} />;
  }
  if (type === 'integer' || type === 'number') {
    const read = (text: string) => (text.trim() === '' ? undefined : numberOf(text));
    return <Typed text={value === undefined ? '' : String(value)} onChange={(text) => onChange(read(text))}>{(typed) => <TextField {...common} inputMode="decimal" {...typed} />}</Typed>;
  }
  if (type === 'string') {
    const change = (text: string) => onChange(text === '' ? undefined : text);
    const text = typeof value === 'string' ? value : '';
    return isLong(name, schema) ? <TextArea {...common} rows={3} value={text} onChange={change} /> : <TextField {...common} value={text} onChange={change} />;
  }
  const items = resolve(root, schema.items ?? {});
  const itemType = typeOf(items);
  if (type === 'array' && (itemType === 'string' || itemType === 'integer' || itemType === 'number')) {
    const lines = Array.isArray(value) ? value.map(String).join('\n') : '';
    const read = (line: string) => (itemType === 'string' ? line : numberOf(line));
    const change = (text: string) => onChange(text === '' ? undefined : text.split('\n').map(read));
    return <Typed text={lines} onChange={change}>{(typed) => <TextArea {...common} hint={<>{common.hint} One per line.</>} rows={2} {...typed} />}</Typed>;
  }
  if (type === 'object' && schema.properties && depth < DEPTH_MAX) {
    const inner = (value ?? {}) as Arguments;
    return (
      <fieldset>
        <legend>{label}</legend>
        {schema.description && <p className="muted small">{schema.description}</p>}
        <Properties root={root} schema={schema} value={inner} onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)} path={path} violations={violations} depth={depth + 1} />
      </fieldset>
    );
  }
  return <JsonProperty {...props} common={common} />;
}

interface TypedText {
  value: string;
  onChange: (text: string) => void;
}

/** Keeps what is typed as it is typed: `1.` means 1, and is not done yet. */
function Typed({ text, onChange, children }: { text: string; onChange: (text: string) => void; children: (typed: TypedText) => React.ReactNode }) {
  const [value, setValue] = useState(text);
  const change = (next: string) => {
    setValue(next);
    onChange(next);
  };
  return children({ value, onChange: change });
}

/** The number that a text says, digit for digit; another text as it is, for the schema to refuse. */
function numberOf(text: string): number | string {
  const plain = /^(-?)(?=\.?\d)0*(\d*)(?:\.(\d{0,100}?)0*)?$/.exec(text.trim());
  if (!plain) return text;
  const [, sign, whole, part = ''] = plain;
  const said = `${sign}${whole || '0'}${part && `.${part}`}`;
  return Number(said).toFixed(part.length) === said ? Number(said) : text;
}

function JsonProperty({ value, onChange, common }: PropertyProps & { common: object & { label: React.ReactNode; hint: React.ReactNode; wrong: string | null } }) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const [broken, setBroken] = useState(false);
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setBroken(false);
    } catch {
      setBroken(true);
    }
  };
  return <TextArea {...common} code rows={3} hint={<>{common.hint} As JSON.</>} wrong={broken ? 'This is not valid JSON yet. The last valid value is used.' : common.wrong} value={text} onChange={change} />;
}

const LONG = /(^|_)(body|content|text|message|description|instructions|markdown|html)$/;

function isLong(name: string, schema: Schema): boolean {
  return (schema.maxLength ?? 0) > 500 || (LONG.test(name) && !schema.format);
}

function hint(schema: Schema): string {
  const bounds = [
    schema.format,
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean);
  return [schema.description, bounds.length > 0 && `(${bounds.join(', ')})`].filter(Boolean).join(' ');
}
