"""What the groups of operations need of the client."""

from __future__ import annotations

from typing import Any, Protocol

from .. import _core


class AsyncTransport(Protocol):
    """Sends operations. The client implements it, so that the groups of operations do not import the client."""

    async def _call(self, operation: str, **values: Any) -> Any: ...

    async def _answer(self, operation: str, values: dict[str, Any]) -> _core.Answer: ...
