"""What the groups of operations need of the client. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

from typing import Any, Protocol

from .. import _core


class Transport(Protocol):
    """Sends operations. The client implements it, so that the groups of operations do not import the client."""

    def _call(self, operation: str, **values: Any) -> Any: ...

    def _answer(self, operation: str, values: dict[str, Any]) -> _core.Answer: ...
