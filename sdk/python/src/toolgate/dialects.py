"""Schemas as each model's provider takes them, and arguments back as the tool takes them.

`lower` follows local references, merges what providers do not take, and keeps what they do. What it had to
rename or to turn into text is undone by `restore`.

- Every dialect: `type: object` wherever `properties` stands and at the top, no `$ref`, no `allOf`, no
  alternatives at the top, property names of `A-Za-z0-9_.-`, at most 64 characters.
- `openai`: no `default`, no `const`; both are said in the description or as `enum`.
- `gemini`: its subset of OpenAPI alone; `nullable` for null, `enum` for texts alone, and an object without
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
# References can make a small schema endless; past this many parts the rest is anything.
PARTS_MAX = 20_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Said elsewhere, or of no use to a model.
_DROPPED = {"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example", "deprecated"}
_GEMINI = {
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
    "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
}  # fmt: skip
_GEMINI_FORMATS = {"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}


class Lowered:
    """A schema in a dialect. `restore` answers the arguments as the tool's own schema has them."""

    def __init__(self, schema: Schema, way_back: WayBack) -> None:
        self.schema = schema
        self._way_back = way_back

    def restore(self, arguments: dict[str, Any]) -> dict[str, Any]:
        restored = self._way_back.restore(arguments)
        return restored if isinstance(restored, dict) else arguments


class WayBack:
    """What has to be undone in a value: names of properties, and objects that were sent as text."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.properties: dict[str, WayBack] = {}
        self.items: WayBack | None = None
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

    def join(self, other: WayBack) -> None:
        """Takes over what an alternative of the same value has to undo."""
        self.names |= other.names
        for name, way in other.properties.items():
            self.properties.setdefault(name, WayBack()).join(way)
        if other.items is not None:
            self.items = self.items or WayBack()
            self.items.join(other.items)
        self.is_text = self.is_text or other.is_text


def name(tool_name: str) -> str:
    """A tool's name as every provider takes it: at most 64 of `A-Za-z0-9_-`, not beginning with a digit."""
    return _short(tool_name, _NAME, r"[^A-Za-z0-9_-]")


def lower(schema: Schema, dialect: Dialect) -> Lowered:
    """A tool's input schema in a dialect."""
    root = schema if isinstance(schema, dict) else {}
    way = WayBack()
    made = _Lowering(root, dialect).top(root, way)
    return Lowered(made, way)


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

    def top(self, schema: Schema, way: WayBack) -> Schema:
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
        return self.one(merged, way, 0, seen)

    def united(self, base: Schema, branches: list[Any], seen: frozenset[str]) -> Schema:
        """Alternatives as one object: every property of any, required what all require."""
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
        """The schema with its reference followed and its `allOf` laid into it, and the references on the way."""
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
            laid, seen = self.merged(part, seen)
            for key, value in laid.items():
                there = found.get(key)
                if key == "properties" and isinstance(there, dict) and isinstance(value, dict):
                    found[key] = {**value, **there}
                elif key == "required" and isinstance(there, list) and isinstance(value, list):
                    found[key] = there + [word for word in value if word not in there]
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

    def one(self, schema: Any, way: WayBack, depth: int, seen: frozenset[str]) -> Schema:
        """One schema, its references followed. `true`, and what lies too deep, is anything."""
        made, seen = self.merged(schema, seen)
        if depth > DEPTH_MAX:
            return self.anything(made, way)
        if isinstance(made.get("properties"), dict) or "additionalProperties" in made:
            made.setdefault("type", "object")
        if "const" in made and self.dialect != "anthropic":
            made["enum"] = [made.pop("const")]
        if "default" in made and self.dialect != "anthropic":
            _note(made, f"Default: {_compact(made.pop('default'))}.")
        self.properties(made, way, depth, seen)
        self.items(made, way, depth, seen)
        for word in ("oneOf", "anyOf"):
            if isinstance(made.get(word), list):
                if self.dialect == "gemini" and any(_is_null(part) for part in made[word]):
                    made[word] = [part for part in made[word] if not _is_null(part)]
                    made["nullable"] = True
                ways = [_joining(way, WayBack()) for _ in made[word]]
                made[word] = [self.one(part, ways[at], depth + 1, seen) for at, part in enumerate(made[word])]
                # A text among the alternatives has to stay the text it is.
                plain = [part for at, part in enumerate(made[word]) if not ways[at].is_text]
                texts = any(part.get("type", "string") == "string" for part in plain)
                way.is_text = way.is_text or (not texts and any(inner.is_text for inner in ways))
        if isinstance(made.get("additionalProperties"), dict):
            made["additionalProperties"] = self.one(made["additionalProperties"], WayBack(), depth + 1, seen)
        return self.gemini(made, way, depth) if self.dialect == "gemini" else made

    def properties(self, made: Schema, way: WayBack, depth: int, seen: frozenset[str]) -> None:
        if not isinstance(made.get("properties"), dict):
            return
        renamed: dict[str, str] = {}
        lowered: dict[str, Any] = {}
        for key, value in made["properties"].items():
            short = _short(key, _KEY, r"[^A-Za-z0-9_.-]")
            renamed[key] = short
            if short != key:
                way.names[short] = key
            inner = way.properties.setdefault(short, WayBack())
            lowered[short] = self.one(value, inner, depth + 1, seen)
        made["properties"] = lowered
        if isinstance(made.get("required"), list):
            made["required"] = [renamed.get(key, key) for key in made["required"] if key in renamed]
            if not made["required"]:
                del made["required"]

    def items(self, made: Schema, way: WayBack, depth: int, seen: frozenset[str]) -> None:
        kinds = made.get("type")
        if kinds != "array" and not (isinstance(kinds, list) and "array" in kinds) and "items" not in made:
            return
        items = made.get("items")
        if not isinstance(items, dict):
            items = {}
        way.items = way.items or WayBack()
        made["items"] = self.one(items, way.items, depth + 1, seen)

    def anything(self, made: Schema, way: WayBack) -> Schema:
        kept = {"description": made["description"]} if "description" in made else {}
        return self.as_text(kept, way) if self.dialect == "gemini" else kept

    def as_text(self, made: Schema, way: WayBack) -> Schema:
        """A value without a known shape, which the model writes as JSON text."""
        way.is_text = True
        text: Schema = {"type": "string"}
        if "description" in made:
            text["description"] = made["description"]
        if made.get("nullable"):
            text["nullable"] = True
        _note(text, "As JSON text.")
        return text

    def gemini(self, made: Schema, way: WayBack, depth: int) -> Schema:
        branches = made.pop("oneOf", None) or made.pop("anyOf", None)
        made.pop("anyOf", None)
        kinds = made.get("type")
        if isinstance(kinds, list):
            if "null" in kinds:
                made["nullable"] = True
            rest = [kind for kind in kinds if kind != "null"]
            made["type"] = rest[0] if len(rest) == 1 else None
            if made["type"] is None:
                del made["type"]
                return self.as_text(made, way)
        if branches and len(branches) == 1:
            made = {**branches[0], **{key: value for key, value in made.items() if key != "type"}}
        elif branches:
            made = {key: made[key] for key in ("description", "nullable") if key in made}
            made["anyOf"] = branches
            return made
        kind = made.get("type")
        if kind == "null":
            made["type"], made["nullable"] = "string", True
            kind = "string"
        values = made.get("enum")
        if isinstance(values, list):
            if None in values:
                made["nullable"] = True
                values = [value for value in values if value is not None]
            if kind in (None, "string") and values and all(isinstance(value, str) for value in values):
                made["type"], made["enum"] = "string", values
            else:
                _note(made, f"One of: {', '.join(_compact(value) for value in values)}.")
                del made["enum"]
                if kind is None and values and all(isinstance(v, int) and not isinstance(v, bool) for v in values):
                    made["type"] = "integer"
        kind = made.get("type")
        if kind is None or (kind == "object" and not made.get("properties") and depth > 0):
            return self.as_text(made, way)
        if "format" in made and made["format"] not in _GEMINI_FORMATS.get(kind, set()):
            del made["format"]
        return {key: value for key, value in made.items() if key in _GEMINI}


def _joining(way: WayBack, inner: WayBack) -> WayBack:
    """A way that an alternative fills and the value's own way shares."""
    inner.names, inner.properties = way.names, way.properties
    inner.items = way.items = way.items or WayBack()
    return inner


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _note(made: Schema, sentence: str) -> None:
    there = str(made.get("description", "")).strip()
    made["description"] = f"{there} {sentence}".strip()


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

