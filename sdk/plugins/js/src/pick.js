// Chooses the fields of a provider's answer that an agent needs: `name`, `path/to/value` (named after
// its last segment) or `name=path/to/value`; `*` takes every element. Absent fields and nulls are left out.

export function pick(value, fields) {
  const out = {};
  for (const field of fields) {
    const equals = field.indexOf('=');
    const path = equals < 0 ? field : field.slice(equals + 1);
    const name = equals < 0 ? path.slice(path.lastIndexOf('/') + 1) : field.slice(0, equals);
    const found = find(value, path.split('/'));
    if (found !== undefined) out[name] = found;
  }
  return out;
}

/** `pick` on every element of a list; anything else is an empty list. */
export function pickEach(list, fields) {
  return Array.isArray(list) ? list.map((one) => pick(one, fields)) : [];
}

function find(value, [first, ...rest]) {
  if (first === undefined) return value ?? undefined;
  if (first === '*') {
    if (!Array.isArray(value)) return undefined;
    return value.map((one) => find(one, rest)).filter((found) => found !== undefined);
  }
  return value !== null && typeof value === 'object' ? find(value[first], rest) : undefined;
}
