"""Paths made of untrusted values. The rules are those of ``sdk/plugins/rust/src/http/address.rs``."""

from __future__ import annotations

import urllib.parse

from .errors import ToolError


def path(template: str, *values: str | int | float) -> str:
    """Fills each ``{}`` with exactly one path segment: ``path("/books/{}", id)``.

    A value that is empty, ``.`` or ``..`` is refused: ``DELETE /books/`` without an id would mean all books.
    A value without a place is a mistake of the program, and so is a place without a value.
    """
    pieces = template.split("{}")
    if len(pieces) != len(values) + 1:
        raise TypeError(f"`path` needs one value for each {{}}: {template!r} has {len(pieces) - 1}, {len(values)} given")
    return pieces[0] + "".join(_segment(value) + piece for value, piece in zip(values, pieces[1:], strict=True))


def _segment(value: str | int | float) -> str:
    text = "" if value is None else str(value)
    if text in ("", ".", ".."):
        raise ToolError.invalid("", f"`{text}` cannot be part of an address: give the real name or id")
    return urllib.parse.quote(text, safe="")
