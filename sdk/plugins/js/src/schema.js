// Builders of JSON Schema 2020-12: the arguments of a tool are declared once, and their TypeScript type
// is derived from that (index.d.ts).

/** One argument: its schema, and whether a call may leave it out. */
export class Property {
  constructor(schema, optional = false) {
    this.schema = schema;
    this.isOptional = optional;
    Object.freeze(this);
  }

  /** A call may leave it out; the tool then sees `undefined`. */
  optional() {
    return new Property(this.schema, true);
  }
}

const WORDS = {
  min: 'minimum',
  max: 'maximum',
  exclusiveMin: 'exclusiveMinimum',
  exclusiveMax: 'exclusiveMaximum',
  multipleOf: 'multipleOf',
  minLength: 'minLength',
  maxLength: 'maxLength',
  minItems: 'minItems',
  maxItems: 'maxItems',
  uniqueItems: 'uniqueItems',
  pattern: 'pattern',
  format: 'format',
  examples: 'examples',
  default: 'default',
};

function property(type, description, options = {}) {
  const schema = {};
  if (description !== undefined) {
    if (typeof description !== 'string') throw new TypeError('a property begins with its description: `s.string(\'Only notes of this folder.\')`');
    schema.description = description;
  }
  Object.assign(schema, type);
  for (const [word, value] of Object.entries(options)) {
    if (!Object.hasOwn(WORDS, word)) {
      throw new TypeError(`unknown word \`${word}\`; a property takes ${Object.keys(WORDS).join(', ')}`);
    }
    schema[WORDS[word]] = value;
  }
  return new Property(schema, 'default' in options);
}

/** The schema of an object that refuses unknown properties. */
export function objectOf(properties, place = '') {
  const schema = { type: 'object', properties: {} };
  const required = [];
  for (const [name, one] of Object.entries(properties)) {
    if (!(one instanceof Property)) throw new TypeError(`${place}\`${name}\` is not a property made by \`s\`: write s.string('...') or another`);
    schema.properties[name] = one.schema;
    if (!one.isOptional) required.push(name);
  }
  if (required.length > 0) schema.required = required;
  schema.additionalProperties = false;
  return schema;
}

function schemaOf(one) {
  if (!(one instanceof Property)) throw new TypeError('`s.array` and `s.map` begin with what they hold: `s.array(s.string(), ...)`');
  return one.schema;
}

function wordsOf(words) {
  const listed = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string');
  if (!listed) throw new TypeError('`s.oneOf` begins with a list of words: `s.oneOf([\'newest\', \'oldest\'], ...)`');
  return [...words];
}

/** Makes properties; each begins with the description that a model reads. */
export const s = Object.freeze({
  string: (description, options) => property({ type: 'string' }, description, options),
  integer: (description, options) => property({ type: 'integer' }, description, options),
  number: (description, options) => property({ type: 'number' }, description, options),
  boolean: (description, options) => property({ type: 'boolean' }, description, options),
  /** One of these words. */
  oneOf: (words, description, options) => property({ type: 'string', enum: wordsOf(words) }, description, options),
  array: (items, description, options) => property({ type: 'array', items: schemaOf(items) }, description, options),
  object: (properties, description, options) => property(objectOf(properties), description, options),
  /** An object with values of one kind under any name. */
  map: (values, description, options) =>
    property({ type: 'object', additionalProperties: schemaOf(values) }, description, options),
  /** Any schema, for what the builders above cannot express. */
  schema: (schema, description, options) => property(schema, description, options),
});

/** The arguments with the schema's `default` for each one that a call left out. */
export function withDefaults(schema, value) {
  if (schema?.type === 'object' && schema.properties && value && typeof value === 'object') {
    const filled = { ...value };
    for (const [name, one] of Object.entries(schema.properties)) {
      if (filled[name] === undefined && 'default' in one) filled[name] = structuredClone(one.default);
      else if (filled[name] !== undefined) filled[name] = withDefaults(one, filled[name]);
    }
    return filled;
  }
  if (schema?.type === 'array' && Array.isArray(value)) return value.map((one) => withDefaults(schema.items, one));
  return value;
}
