"""Checks a declaration while it is made: what a gateway would refuse is an error that names the tool and the key."""

from __future__ import annotations

import re
from typing import Any

KEYS = (
    "service",
    "title",
    "version",
    "description",
    "homepage",
    "categories",
    "hosts",
    "request_headers",
    "response_headers",
    "response_types",
    "capabilities",
    "auth",
    "parameters",
    "config",
    "limits",
    "webhook",
)
TEXTS = ("service", "title", "version", "description")
LISTS = ("categories", "hosts", "request_headers", "response_headers", "response_types", "capabilities")
LISTS_OF_OBJECTS = ("auth", "parameters", "config")
CAPABILITIES = ("egress", "kv")
SLOT_NEEDS = ("slot", "title", "type", "placement", "audience")
SLOT_TYPES = ("oauth2", "oauth2_client_credentials", "api_key", "bearer", "basic")
LIMITS = ("timeout_ms", "memory_mib", "response_mib")
PAIRS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
PYTHON: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def plugin(head: dict[str, Any]) -> None:
    """Checks the keys of a plugin.

    Raises:
        ValueError: every gateway refuses it.
    """
    for key in head:
        if key not in KEYS and key != "manifest":
            raise ValueError(f"unknown key `{key}`; `Plugin` takes {', '.join(KEYS)}")
    for key in TEXTS:
        if not isinstance(head[key], str) or not head[key].strip():
            raise ValueError(f"`{key}` is a text that is not empty")
    if not re.fullmatch("[a-z][a-z0-9_]*", head["service"]):
        raise ValueError(
            f"`service`: `{head['service']}` is not a service name; write lower-case letters, digits and `_`, a letter first"
        )
    if not re.fullmatch(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?", head["version"]):
        raise ValueError(
            f"`version`: `{head['version']}` is not a semantic version; write three numbers, for example 1.0.0"
        )
    for key in LISTS:
        if not _texts(head.get(key, [])):
            raise ValueError(f"`{key}` is a list of texts")
    for key in LISTS_OF_OBJECTS:
        listed = head.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise ValueError(f"`{key}` is a list of dicts")
    for name in head["capabilities"]:
        if name not in CAPABILITIES:
            raise ValueError(f"`capabilities`: `{name}` is not one of {', '.join(CAPABILITIES)}")
    for key in head["limits"]:
        if key not in LIMITS:
            raise ValueError(f"`limits`: unknown key `{key}`; known are {', '.join(LIMITS)}")
    for index, slot in enumerate(head.get("auth", [])):
        _slot(f"`auth`[{index}]", slot)


def _slot(place: str, slot: dict[str, Any]) -> None:
    for key in SLOT_NEEDS:
        if key not in slot:
            raise ValueError(f"{place}: `{key}` is missing; a slot needs {', '.join(SLOT_NEEDS)}")
    if slot["type"] not in SLOT_TYPES:
        raise ValueError(f"{place}: `type` is {', '.join(SLOT_TYPES)}, not `{slot['type']}`")
    if not _texts(slot["audience"]):
        raise ValueError(f"{place}: `audience` is a list of origins: ['https://api.example.com']")


def tool(spec: dict[str, Any], slots: list[str]) -> None:
    """Checks the declaration of one tool.

    Raises:
        ValueError: its keys contradict each other.
    """
    name, takes = spec["name"], spec["input"]
    for key in ("auth", "scopes", "keywords", "requests", "queries"):
        if spec.get(key) is not None and not _texts(spec[key]):
            raise ValueError(f"{name}: `{key}` is a list of texts")
    triggers = spec.get("triggers") or []
    if not isinstance(triggers, list) or not all(isinstance(one, dict) for one in triggers):
        raise ValueError(f"{name}: `triggers` is a list of dicts with name, title, description, items, id")
    for slot in spec.get("auth") or []:
        if slot not in slots:
            raise ValueError(f"{name}: `auth` names the slot `{slot}`; the plugin has {', '.join(slots) or 'none'}")
    for parameter, schema in takes["properties"].items():
        _schema(f"{name}: `{parameter}`", schema)
    examples = spec.get("examples") or []
    if not isinstance(examples, list) or not all(isinstance(one, dict) for one in examples):
        raise ValueError(f"{name}: `examples` is a list of dicts of arguments: [{{'folder': 'work'}}]")
    for example in examples:
        known = takes["properties"]
        for key in example:
            if key not in known:
                raise ValueError(
                    f"{name}: an example has `{key}`, which the tool does not take; "
                    f"it takes {', '.join(known) or 'nothing'}"
                )
        for key in takes.get("required", []):
            if key not in example:
                raise ValueError(f"{name}: an example lacks `{key}`, which the tool needs")


def _schema(place: str, schema: dict[str, Any]) -> None:
    for low, high in PAIRS:
        if low in schema and high in schema and schema[low] > schema[high]:
            raise ValueError(f"{place}: {low} {schema[low]} is more than {high} {schema[high]}: no value fits")
    if "pattern" in schema:
        try:
            re.compile(schema["pattern"])
        except re.error as cause:
            raise ValueError(f"{place}: `pattern`: {cause}") from None
    if "default" in schema and not _fits(schema, schema["default"]):
        raise ValueError(f"{place}: the default {schema['default']!r} is refused by the parameter's own schema")
    for name, one in schema.get("properties", {}).items():
        _schema(f"{place}.`{name}`", one)
    if isinstance(schema.get("items"), dict):
        _schema(f"{place}, an item", schema["items"])


def _fits(schema: dict[str, Any], value: Any) -> bool:
    """Checks only type, ``enum`` and bounds."""
    kind = schema.get("type")
    if isinstance(kind, str):
        # A bool is an int in Python and in no schema.
        if not isinstance(value, PYTHON[kind]) or (isinstance(value, bool) and kind != "boolean"):
            return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    size: float
    if isinstance(value, str):
        size, least, most = len(value), "minLength", "maxLength"
    elif isinstance(value, list):
        size, least, most = len(value), "minItems", "maxItems"
    elif isinstance(value, (int, float)):
        size, least, most = value, "minimum", "maximum"
    else:
        return True
    return bool(schema.get(least, size) <= size <= schema.get(most, size))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
