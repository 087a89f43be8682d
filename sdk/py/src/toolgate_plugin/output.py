"""What a tool answers: any plain data, or an ``Output`` with more to say."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class Output:
    """A result with what belongs beside it: the next page, a line of summary, files."""

    data: Any
    next_cursor: str | None = None
    summary: str | None = None
    files: list[Any] = dataclasses.field(default_factory=list)


def page(data: Any, next_cursor: str | int | None) -> Output:
    """One page. ``next_cursor`` is where the next call goes on, none at the end."""
    return Output(data, next_cursor=None if next_cursor is None else str(next_cursor))
