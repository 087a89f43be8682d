"""What the client does for its parts."""

from __future__ import annotations

from typing import Any, Protocol

from .. import _core


class AsyncTransport(Protocol):
    """Sends operations. The client is one; what is built on it does not know the client."""

    async def _call(self, operation: str, **values: Any) -> Any: ...

    async def _answer(self, operation: str, values: dict[str, Any]) -> _core.Answer: ...
