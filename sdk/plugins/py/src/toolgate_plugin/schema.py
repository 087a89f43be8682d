"""JSON Schema 2020-12 from a function's type hints and docstring, and values from JSON by the same hints."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import types
import typing
from typing import Any

JSON = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Arg:
    """Bounds of a parameter: ``Annotated[int, Arg(min=1, max=100)]``."""

    min: float | None = None
    max: float | None = None
    exclusive_min: float | None = None
    exclusive_max: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool | None = None
    pattern: str | None = None
    format: str | None = None
    examples: list[Any] | None = None
    description: str | None = None

    def keywords(self) -> JSON:
        names = {
            "min": "minimum",
            "max": "maximum",
            "exclusive_min": "exclusiveMinimum",
            "exclusive_max": "exclusiveMaximum",
            "multiple_of": "multipleOf",
            "min_length": "minLength",
            "max_length": "maxLength",
            "min_items": "minItems",
            "max_items": "maxItems",
            "unique_items": "uniqueItems",
        }
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {names.get(name, name): value for name, value in given.items() if value is not None}


_PLAIN: dict[Any, JSON] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {"type": ["object", "array", "string", "number", "boolean", "null"]},
}


def of_type(hint: Any) -> JSON:
    """The schema of a type: plain ones, ``list``, ``dict[str, T]``, ``Literal``, ``Enum``, dataclasses."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        schema = of_type(arguments[0])
        for one in arguments[1:]:
            if isinstance(one, Arg):
                schema |= one.keywords()
        return schema
    if _is_optional(hint):
        return of_type(_without_none(hint))
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin is typing.Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": of_type(arguments[0])}
    if origin is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": of_type(arguments[1])}
    if hint is dict:
        return {"type": "object"}
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return {"type": "string", "enum": [one.value for one in hint]}
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        known = descriptions(inspect.getdoc(hint) or "")[1]
        members = [
            (field.name, hints[field.name], _default(field), known.get(field.name))
            for field in dataclasses.fields(hint)
        ]
        return object_of(members)
    raise TypeError(
        f"{hint!r} has no schema: use str, int, float, bool, list, dict[str, ...], Literal, an Enum or a dataclass"
    )


MISSING = inspect.Parameter.empty


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return MISSING


def object_of(members: list[tuple[str, Any, Any, str | None]]) -> JSON:
    """The schema of an object that refuses unknown properties. A member is name, type, default, description."""
    properties: JSON = {}
    required = []
    for name, hint, default, description in members:
        try:
            schema = of_type(hint)
        except TypeError as cause:
            raise TypeError(f"`{name}`: {cause}") from None
        if description:
            schema = {"description": description, **schema}
        if default is MISSING:
            required.append(name)
        elif default is not None:
            schema["default"] = to_json(default)
        properties[name] = schema
    whole: JSON = {"type": "object", "properties": properties}
    if required:
        whole["required"] = required
    return whole | {"additionalProperties": False}


def of_function(function: Any) -> tuple[str, JSON]:
    """A tool's description and what it takes: the docstring, and every parameter but the context."""
    text, known = descriptions(inspect.getdoc(function) or "")
    if not text:
        raise TypeError(f"{function.__name__} needs a docstring: it is the description that people and models choose by")
    hints = typing.get_type_hints(function, include_extras=True)
    members = []
    for parameter in parameters(function):
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: the parameter `{parameter.name}` needs a type")
        members.append((parameter.name, hints[parameter.name], parameter.default, known.pop(parameter.name, None)))
    if known:
        raise TypeError(f"{function.__name__}: the docstring tells of {', '.join(known)}, which it does not take")
    try:
        return text, object_of(members)
    except TypeError as cause:
        raise TypeError(f"{function.__name__}: {cause}") from None


def parameters(function: Any) -> list[inspect.Parameter]:
    """A tool's parameters without the first, which is the context."""
    all_of_them = list(inspect.signature(function).parameters.values())
    if not all_of_them:
        raise TypeError(f"{function.__name__} takes the call's context as its first parameter")
    return all_of_them[1:]


def descriptions(docstring: str) -> tuple[str, dict[str, str]]:
    """The text before ``Args:`` as paragraphs of one line each, and the description of each parameter."""
    head, _, rest = docstring.partition("\nArgs:\n")
    paragraphs = [" ".join(one.split()) for one in head.strip().split("\n\n")]
    found: dict[str, str] = {}
    name = None
    for line in rest.splitlines():
        begins = re.match(r"^ {2,8}(\w+):\s*(.*)$", line)
        if begins and not line.startswith(" " * 9):
            name = begins[1]
            found[name] = begins[2].strip()
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return "\n\n".join(paragraphs), found


def from_json(hint: Any, value: Any) -> Any:
    """A value that was checked against its schema, converted to the type that the function declares."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return from_json(arguments[0], value)
    if _is_optional(hint):
        return None if value is None else from_json(_without_none(hint), value)
    if origin is list:
        return [from_json(arguments[0], one) for one in value]
    if origin is dict:
        return {key: from_json(arguments[1], one) for key, one in value.items()}
    if hint is float:
        return float(value)
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return hint(value)
    if dataclasses.is_dataclass(hint) and inspect.isclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        return hint(**{name: from_json(hints[name], one) for name, one in value.items()})
    return value


def to_json(value: Any) -> Any:
    """Plain data of dataclasses and enums, for results and defaults."""
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(one) for one in value]
    return value


def _is_optional(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType) and type(None) in typing.get_args(hint)


def _without_none(hint: Any) -> Any:
    rest = [one for one in typing.get_args(hint) if one is not type(None)]
    if len(rest) != 1:
        raise TypeError(f"{hint!r} has no schema: a parameter has one type, or that type or None")
    return rest[0]
