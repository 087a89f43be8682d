"""Holds a JSON value against a JSON Schema of a description, strictly where names are concerned.

A schema that lists properties and does not say `additionalProperties` counts as closed: what is not listed is unknown.
Alternatives (`oneOf`, `anyOf`) are merged, so that a property which any of them knows is known.
"""

import re

DEPTH_MAX = 12
ALTERNATIVES_MAX = 32
# What the generator writes where any text may stand, or any of a pattern. It is not held against a long enumeration, such
# as all currencies.
FREE = {"example", "EXAMPLE", "EUR", "EN", "en"}
VALUES_MAX = 12


class Shape:
    """What a schema says, with references, parts and alternatives merged."""

    def __init__(self):
        self.types = None  # None: any
        self.enum = None
        self.properties = {}
        self.required = [frozenset()]  # alternatives, one of which has to be there
        self.closed = False  # properties are listed and no others are named
        self.open = False  # others are allowed in so many words
        self.other = None
        self.items = None
        self.nullable = False
        self.bounds = {}
        self.read_only = False
        self.deprecated = False


def kinds(schema):
    kind = schema.get("type")
    if kind is None:
        if "properties" in schema:
            return {"object"}
        return {"array"} if "items" in schema else None
    found = set(kind) if isinstance(kind, list) else {kind}
    return None if "any" in found else found


class Checker:
    """`resolve(ref)` answers the schema that a `$ref` names; with `nulls` a null may stand anywhere."""

    def __init__(self, resolve, nulls=False):
        self.resolve, self.nulls = resolve, nulls
        self.known = {}
        self.under_way = set()

    def shape(self, schema, depth=0):
        if schema is True or not isinstance(schema, dict):
            return Shape()
        key = id(schema)
        if key in self.known:
            return self.known[key][1]
        if key in self.under_way:
            return Shape()
        self.under_way.add(key)
        made = self._shape(schema, depth)
        self.under_way.discard(key)
        # What was cut because a type was under way is right only there.
        if not self.under_way:
            self.known[key] = (schema, made)
        return made

    def _shape(self, schema, depth):
        made = Shape()
        if depth > DEPTH_MAX:
            return made
        if "$ref" in schema:
            target = self.resolve(schema["$ref"])
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            found = self.shape(target, depth + 1) if target is not None else Shape()
            if not rest:
                return found
            return self.both(found, self._shape(rest, depth + 1), any_order=True)
        made.types = kinds(schema)
        made.nullable = bool(schema.get("nullable")) or bool(made.types and "null" in made.types)
        if "const" in schema:
            made.enum = [schema["const"]]
        elif isinstance(schema.get("enum"), list):
            made.enum = schema["enum"]
        made.properties = {name: [of] for name, of in (schema.get("properties") or {}).items()}
        if isinstance(schema.get("required"), list):
            made.required = [frozenset(name for name in schema["required"] if not self.read_only(made, name))]
        more = schema.get("additionalProperties")
        made.open = bool(more) or bool(schema.get("patternProperties"))
        made.other = more if isinstance(more, dict) and more else None
        made.closed = bool(made.properties) and not made.open
        if more is False:
            made.closed = True
        made.items = [schema["items"]] if isinstance(schema.get("items"), dict) else None
        made.bounds = {
            key: schema[key]
            for key in ("maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum")
            if isinstance(schema.get(key), (int, float))
        }
        made.read_only = bool(schema.get("readOnly"))
        made.deprecated = bool(schema.get("deprecated"))
        for part in schema.get("allOf") or []:
            made = self.both(made, self.shape(part, depth + 1))
        subtypes = (schema.get("discriminator") or {}) if "oneOf" not in schema and "anyOf" not in schema else {}
        subtypes = subtypes.get("mapping") if isinstance(subtypes, dict) else None
        if subtypes:
            # The alternatives name this schema as a part of theirs; here only their properties are of interest.
            for ref in subtypes.values():
                target = self.resolve(ref if "/" in ref else f"#/components/schemas/{ref}")
                part = self.shape(target, depth + 1) if isinstance(target, dict) else Shape()
                made.properties = merged(made.properties, part.properties)
        for word in ("oneOf", "anyOf"):
            if schema.get(word):
                either = None
                for part in schema[word]:
                    found = self.shape(part, depth + 1)
                    either = found if either is None else self.either(either, found)
                made = self.both(made, either)
        return made

    def read_only(self, shape, name):
        return any(isinstance(of, dict) and of.get("readOnly") for of in shape.properties.get(name, []))

    def both(self, a, b, any_order=False):
        made = Shape()
        if a.types is None or b.types is None:
            made.types = a.types if b.types is None else b.types
        else:
            made.types = a.types & b.types or a.types | b.types
            if "number" in a.types | b.types and "integer" in a.types | b.types:
                made.types = made.types | {"integer"}
        made.enum = a.enum if b.enum is None else b.enum if a.enum is None else [v for v in a.enum if v in b.enum]
        made.properties = merged(a.properties, b.properties)
        made.required = [one | two for one in a.required for two in b.required][:ALTERNATIVES_MAX]
        made.open = a.open or b.open
        made.other = a.other or b.other
        made.closed = (a.closed or b.closed) and not made.open
        made.items = (a.items or []) + (b.items or []) or None
        made.nullable = a.nullable or b.nullable
        made.bounds = {**a.bounds, **b.bounds}
        made.read_only = a.read_only or b.read_only
        made.deprecated = a.deprecated or b.deprecated
        return made

    def either(self, a, b):
        made = Shape()
        made.types = None if a.types is None or b.types is None else a.types | b.types
        # An alternative without an enumeration lifts it.
        made.enum = None if a.enum is None or b.enum is None else a.enum + b.enum
        made.properties = merged(a.properties, b.properties)
        made.required = (a.required + b.required)[:ALTERNATIVES_MAX]
        free = lambda shape: not shape.closed and (shape.types is None or "object" in shape.types)
        made.open = a.open or b.open or free(a) or free(b)
        made.other = a.other or b.other
        made.closed = (a.closed or b.closed) and not made.open
        made.items = (a.items or []) + (b.items or []) or None
        made.nullable = a.nullable or b.nullable or None in (a.types, b.types)
        made.bounds = {key: max(a.bounds[key], b.bounds[key]) for key in a.bounds if key.startswith("max") and key in b.bounds}
        made.deprecated = a.deprecated and b.deprecated
        return made

    def check(self, value, schema, place="", loose=False, depth=0):
        """What is wrong with the value, each with its place. `loose`: numbers and truth values came as text."""
        if isinstance(value, str) and "[slot " in value:
            return []
        shape = self.shape(schema)
        where = place or "the body"
        if value is None:
            ok = self.nulls or shape.nullable or shape.types is None or "null" in shape.types
            return [] if ok else [f"{where} is null"]
        if shape.types is not None and not fits(value, shape.types, loose):
            return [f"{where} is {kind_of(value)}, described as {'/'.join(sorted(shape.types))}"]
        wrong = []
        if shape.enum is not None and not isinstance(value, (dict, list)):
            free = isinstance(value, str) and value in FREE and len(shape.enum) > VALUES_MAX
            if not free and not any(same(value, known, loose) for known in shape.enum):
                wrong.append(f"{where} is {value!r}, not one of {shape.enum[:8]}")
        wrong += bounds(value, shape.bounds, where)
        if depth > DEPTH_MAX:
            return wrong
        if isinstance(value, dict):
            wrong += self.members(value, shape, place, loose, depth)
        if isinstance(value, list) and shape.items:
            for n, item in enumerate(value):
                wrong += self.best(item, shape.items, f"{place}[{n}]" if place else f"[{n}]", loose, depth)
        return wrong

    def members(self, value, shape, place, loose, depth):
        wrong = []
        at = lambda name: f"{place}.{name}" if place else name
        for name, member in value.items():
            known = shape.properties.get(name)
            if known is None:
                if isinstance(member, str) and "[slot " in member:
                    continue
                if shape.closed:
                    wrong.append(f"property {at(name)} is not described")
                elif shape.other is not None:
                    wrong += self.check(member, shape.other, at(name), loose, depth + 1)
                continue
            shapes = [self.shape(one) for one in known]
            if all(one.read_only for one in shapes):
                wrong.append(f"property {at(name)} is read-only")
            if all(one.deprecated for one in shapes):
                wrong.append(f"property {at(name)} is deprecated")
            wrong += self.best(member, known, at(name), loose, depth)
        lacking = [sorted(need - value.keys()) for need in shape.required]
        if all(lacking):
            for name in min(lacking, key=len):
                wrong.append(f"required property {at(name)} is missing")
        return wrong

    def best(self, value, schemas, place, loose, depth):
        tried = [self.check(value, one, place, loose, depth + 1) for one in schemas]
        return min(tried, key=len)


def merged(a, b):
    made = {name: list(of) for name, of in a.items()}
    for name, of in b.items():
        known = made.setdefault(name, [])
        known += [one for one in of if not any(one is other for other in known)]
    return made


def kind_of(value):
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((dict, "object"), (list, "array"), (str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, kind):
            return name
    return "null"


def fits(value, types, loose):
    kind = kind_of(value)
    if kind in types or kind == "integer" and "number" in types:
        return True
    if kind == "number" and "integer" in types and float(value).is_integer():
        return True
    if "file" in types and kind == "string":
        return True
    if loose and kind == "string":
        if {"integer", "number"} & types and re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", value):
            return True
        if "boolean" in types and value in ("true", "false"):
            return True
        # A list of one value, or one that is written with commas.
        if "array" in types:
            return True
    return False


def same(value, known, loose):
    if value == known:
        return True
    if loose and known is not None:
        text = {True: "true", False: "false"}.get(known, str(known)) if isinstance(known, bool) else str(known)
        return str(value) == text
    return False


def bounds(value, limits, where):
    wrong = []
    sizes = {"Length": len(value) if isinstance(value, str) else None, "Items": len(value) if isinstance(value, list) else None}
    for what, size in sizes.items():
        if size is not None and size > limits.get("max" + what, size):
            wrong.append(f"{where} has {size} where at most {limits['max' + what]} are taken")
        if size is not None and size < limits.get("min" + what, size):
            wrong.append(f"{where} has {size} where at least {limits['min' + what]} are asked for")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value > limits.get("maximum", value) or value < limits.get("minimum", value):
            wrong.append(f"{where} is {value}, out of bounds")
    return wrong
