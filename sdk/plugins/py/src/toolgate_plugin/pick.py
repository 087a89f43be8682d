"""Chooses the fields of a provider's answer that an agent needs: ``name``, ``path/to/value`` (named after its
last segment) or ``name=path/to/value``; ``*`` takes every element. Absent fields and nulls are left out."""

from __future__ import annotations

from typing import Any


def pick(value: Any, fields: list[str]) -> dict[str, Any]:
    out = {}
    for field in fields:
        name, equals, path = field.partition("=")
        if not equals:
            name, path = field.rpartition("/")[2], field
        found = _find(value, path.split("/"))
        if found is not None:
            out[name] = found
    return out


def pick_each(values: Any, fields: list[str]) -> list[dict[str, Any]]:
    """``pick`` on every element of a list; anything else is an empty list."""
    return [pick(one, fields) for one in values] if isinstance(values, list) else []


def _find(value: Any, path: list[str]) -> Any:
    if not path:
        return value
    first, *rest = path
    if first == "*":
        if not isinstance(value, list):
            return None
        return [found for one in value if (found := _find(one, rest)) is not None]
    if isinstance(value, list):
        index = int(first) if first.isdigit() else len(value)
        return _find(value[index], rest) if index < len(value) else None
    return _find(value.get(first), rest) if isinstance(value, dict) else None
