"""Schemas in the form that each model's provider accepts, and arguments back in the form that the tool expects.

`lower` resolves local references, merges what providers do not accept, and keeps the rest. `restore` undoes what
`lower` renamed or turned into text.

- Every dialect: `type: object` at the top and wherever there are `properties`, no `$ref`, no `allOf`, no
  alternatives at the top, property names of `A-Za-z0-9_.-`, at most 64 characters.
- `openai`: no `default`, no `const`; they become a sentence of the description and an `enum`.
- `gemini`: only its subset of OpenAPI; `nullable` for null, `enum` only for strings, and an object without
  known properties as JSON text.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Literal, TypeAlias

Dialect: TypeAlias = Literal["openai", "anthropic", "gemini"]
Schema: TypeAlias = dict[str, Any]

NAME_CHARS_MAX = 64
DEPTH_MAX = 24
# References can make a small schema endless; parts beyond this number become schemas without constraints.
PARTS_MAX = 20_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Keywords that `lower` resolves, or that are of no use to a model.
_DROPPED = {"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example", "deprecated"}
_GEMINI = {
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
    "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
}  # fmt: skip
_GEMINI_FORMATS = {"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}


class Lowered:
    """A schema in a dialect. `restore` answers the arguments in the form of the tool's own schema."""

    def __init__(self, schema: Schema, restorer: ArgumentRestorer) -> None:
        self.schema = schema
        self._restorer = restorer

    def restore(self, arguments: dict[str, Any]) -> dict[str, Any]:
        restored = self._restorer.restore(arguments)
        return restored if isinstance(restored, dict) else arguments


class ArgumentRestorer:
    """Undoes in a value what `lower` changed: renamed properties, and values that the model writes as JSON text."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.properties: dict[str, ArgumentRestorer] = {}
        self.items: ArgumentRestorer | None = None
        self.is_text = False

    def restore(self, value: Any) -> Any:
        if self.is_text and isinstance(value, str):
            try:
                return json.loads(value)
            except ValueError:
                return value
        if isinstance(value, dict):
            known = self.properties
            return {
                self.names.get(name, name): known[name].restore(inner) if name in known else inner
                for name, inner in value.items()
            }
        if isinstance(value, list) and self.items is not None:
            return [self.items.restore(inner) for inner in value]
        return value

    def join(self, other: ArgumentRestorer) -> None:
        """Takes over what an alternative of the same value restores."""
        self.names |= other.names
        for name, restorer in other.properties.items():
            self.properties.setdefault(name, ArgumentRestorer()).join(restorer)
        if other.items is not None:
            self.items = self.items or ArgumentRestorer()
            self.items.join(other.items)
        self.is_text = self.is_text or other.is_text

    def for_alternative(self) -> ArgumentRestorer:
        """The restorer of one alternative. It shares names, properties and items with this one, but not `is_text`."""
        inner = ArgumentRestorer()
        inner.names, inner.properties = self.names, self.properties
        inner.items = self.items = self.items or ArgumentRestorer()
        return inner


def name(tool_name: str) -> str:
    """A tool's name in a form that every provider accepts: at most 64 of `A-Za-z0-9_-`, not beginning with a digit."""
    return _short(tool_name, _NAME, r"[^A-Za-z0-9_-]")


def lower(schema: Schema, dialect: Dialect) -> Lowered:
    """A tool's input schema in a dialect."""
    root = schema if isinstance(schema, dict) else {}
    restorer = ArgumentRestorer()
    lowered = _Lowering(root, dialect).top(root, restorer)
    return Lowered(lowered, restorer)


def _short(text: str, allowed: re.Pattern[str], others: str) -> str:
    if allowed.fullmatch(text):
        return text
    ending = "_" + hashlib.sha256(text.encode()).hexdigest()[:8]
    begin = re.sub(others, "_", text)
    if not re.match("[A-Za-z_]", begin):
        begin = "_" + begin
    return begin[: NAME_CHARS_MAX - len(ending)] + ending


class _Lowering:
    def __init__(self, root: Schema, dialect: Dialect) -> None:
        self.root = root
        self.dialect = dialect
        self.parts = 0

    def top(self, schema: Schema, restorer: ArgumentRestorer) -> Schema:
        merged, seen = self.merged(schema, frozenset())
        branches = merged.pop("oneOf", None) or merged.pop("anyOf", None)
        merged.pop("anyOf", None)
        if isinstance(branches, list):
            merged = self.united(merged, branches, seen)
        merged["type"] = "object"
        if not isinstance(merged.get("properties"), dict):
            merged["properties"] = {}
        for word in ("enum", "not", "if", "then", "else", "const"):
            merged.pop(word, None)
        return self.lower(merged, restorer, 0, seen)

    def united(self, base: Schema, branches: list[Any], seen: frozenset[str]) -> Schema:
        """The alternatives as one object: it has the properties of all, and requires what each of them requires."""
        parts = [self.merged(branch, seen)[0] for branch in branches if isinstance(branch, dict)]
        properties: dict[str, Any] = dict(base.get("properties", {}))
        for part in parts:
            for key, value in part.get("properties", {}).items():
                properties.setdefault(key, value)
        required = list(base.get("required", []))
        for word in parts[0].get("required", []) if parts else []:
            if word not in required and all(word in part.get("required", []) for part in parts):
                required.append(word)
        united = {**base, "properties": properties}
        if required:
            united["required"] = required
        return united

    def merged(self, schema: Any, seen: frozenset[str]) -> tuple[Schema, frozenset[str]]:
        """The schema with its reference resolved and its `allOf` merged, and the references that were followed."""
        self.parts += 1
        if not isinstance(schema, dict) or self.parts > PARTS_MAX:
            return {}, seen
        found = {key: value for key, value in schema.items() if key not in _DROPPED and not key.startswith("x-")}
        reference = found.pop("$ref", None)
        parts = found.pop("allOf", None)
        parts = list(parts) if isinstance(parts, list) else []
        if isinstance(reference, str) and reference not in seen:
            seen |= {reference}
            parts.insert(0, self.target(reference))
        for part in parts:
            inner, seen = self.merged(part, seen)
            for key, value in inner.items():
                own = found.get(key)
                if key == "properties" and isinstance(own, dict) and isinstance(value, dict):
                    found[key] = {**value, **own}
                elif key == "required" and isinstance(own, list) and isinstance(value, list):
                    found[key] = own + [word for word in value if word not in own]
                else:
                    found.setdefault(key, value)
        return found, seen

    def target(self, reference: str) -> Any:
        at: Any = self.root
        if not reference.startswith("#"):
            return {}
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            at = at.get(key) if isinstance(at, dict) else None
        return at

    def lower(self, schema: Any, restorer: ArgumentRestorer, depth: int, seen: frozenset[str]) -> Schema:
        """Lowers one schema. `true`, and what is nested too deep, becomes a schema without constraints."""
        merged, seen = self.merged(schema, seen)
        if depth > DEPTH_MAX:
            return self.unconstrained(merged, restorer)
        if isinstance(merged.get("properties"), dict) or "additionalProperties" in merged:
            merged.setdefault("type", "object")
        if "const" in merged and self.dialect != "anthropic":
            merged["enum"] = [merged.pop("const")]
        if "default" in merged and self.dialect != "anthropic":
            _note(merged, f"Default: {_compact(merged.pop('default'))}.")
        self.properties(merged, restorer, depth, seen)
        self.items(merged, restorer, depth, seen)
        for word in ("oneOf", "anyOf"):
            if isinstance(merged.get(word), list):
                if self.dialect == "gemini" and any(_is_null(part) for part in merged[word]):
                    merged[word] = [part for part in merged[word] if not _is_null(part)]
                    merged["nullable"] = True
                restorers = [restorer.for_alternative() for _ in merged[word]]
                merged[word] = [
                    self.lower(part, restorers[at], depth + 1, seen) for at, part in enumerate(merged[word])
                ]
                # If one of the alternatives is a string, a string has to stay as it is.
                plain = [part for at, part in enumerate(merged[word]) if not restorers[at].is_text]
                texts = any(part.get("type", "string") == "string" for part in plain)
                restorer.is_text = restorer.is_text or (not texts and any(one.is_text for one in restorers))
        if isinstance(merged.get("additionalProperties"), dict):
            inner = self.lower(merged["additionalProperties"], ArgumentRestorer(), depth + 1, seen)
            merged["additionalProperties"] = inner
        return self.gemini(merged, restorer, depth) if self.dialect == "gemini" else merged

    def properties(self, schema: Schema, restorer: ArgumentRestorer, depth: int, seen: frozenset[str]) -> None:
        if not isinstance(schema.get("properties"), dict):
            return
        renamed: dict[str, str] = {}
        lowered: dict[str, Any] = {}
        for key, value in schema["properties"].items():
            short = _short(key, _KEY, r"[^A-Za-z0-9_.-]")
            renamed[key] = short
            if short != key:
                restorer.names[short] = key
            inner = restorer.properties.setdefault(short, ArgumentRestorer())
            lowered[short] = self.lower(value, inner, depth + 1, seen)
        schema["properties"] = lowered
        if isinstance(schema.get("required"), list):
            schema["required"] = [renamed.get(key, key) for key in schema["required"] if key in renamed]
            if not schema["required"]:
                del schema["required"]

    def items(self, schema: Schema, restorer: ArgumentRestorer, depth: int, seen: frozenset[str]) -> None:
        kinds = schema.get("type")
        if kinds != "array" and not (isinstance(kinds, list) and "array" in kinds) and "items" not in schema:
            return
        items = schema.get("items")
        if not isinstance(items, dict):
            items = {}
        restorer.items = restorer.items or ArgumentRestorer()
        schema["items"] = self.lower(items, restorer.items, depth + 1, seen)

    def unconstrained(self, schema: Schema, restorer: ArgumentRestorer) -> Schema:
        bare = {"description": schema["description"]} if "description" in schema else {}
        return self.as_text(bare, restorer) if self.dialect == "gemini" else bare

    def as_text(self, schema: Schema, restorer: ArgumentRestorer) -> Schema:
        """A value without a known shape, which the model writes as JSON text."""
        restorer.is_text = True
        text: Schema = {"type": "string"}
        if "description" in schema:
            text["description"] = schema["description"]
        if schema.get("nullable"):
            text["nullable"] = True
        _note(text, "As JSON text.")
        return text

    def gemini(self, schema: Schema, restorer: ArgumentRestorer, depth: int) -> Schema:
        branches = schema.pop("oneOf", None) or schema.pop("anyOf", None)
        schema.pop("anyOf", None)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            if "null" in kinds:
                schema["nullable"] = True
            rest = [kind for kind in kinds if kind != "null"]
            schema["type"] = rest[0] if len(rest) == 1 else None
            if schema["type"] is None:
                del schema["type"]
                return self.as_text(schema, restorer)
        if branches and len(branches) == 1:
            schema = {**branches[0], **{key: value for key, value in schema.items() if key != "type"}}
        elif branches:
            schema = {key: schema[key] for key in ("description", "nullable") if key in schema}
            schema["anyOf"] = branches
            return schema
        kind = schema.get("type")
        if kind == "null":
            schema["type"], schema["nullable"] = "string", True
            kind = "string"
        values = schema.get("enum")
        if isinstance(values, list):
            if None in values:
                schema["nullable"] = True
                values = [value for value in values if value is not None]
            if kind in (None, "string") and values and all(isinstance(value, str) for value in values):
                schema["type"], schema["enum"] = "string", values
            else:
                _note(schema, f"One of: {', '.join(_compact(value) for value in values)}.")
                del schema["enum"]
                if kind is None and values and all(isinstance(v, int) and not isinstance(v, bool) for v in values):
                    schema["type"] = "integer"
        kind = schema.get("type")
        if kind is None or (kind == "object" and not schema.get("properties") and depth > 0):
            return self.as_text(schema, restorer)
        if "format" in schema and schema["format"] not in _GEMINI_FORMATS.get(kind, set()):
            del schema["format"]
        return {key: value for key, value in schema.items() if key in _GEMINI}


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _note(schema: Schema, sentence: str) -> None:
    description = str(schema.get("description", "")).strip()
    schema["description"] = f"{description} {sentence}".strip()


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

