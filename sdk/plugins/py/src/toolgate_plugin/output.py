"""What a tool answers: any plain data, or an ``Output`` with more than data."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class Output:
    """A result with the next cursor, a summary of one line and files."""

    data: Any
    next_cursor: str | None = None
    summary: str | None = None
    files: list[Any] = dataclasses.field(default_factory=list)


def page(data: Any, next_cursor: str | int | None) -> Output:
    """One page. ``next_cursor`` is the cursor of the next page, none at the end."""
    return Output(data, next_cursor=None if next_cursor is None else str(next_cursor))
