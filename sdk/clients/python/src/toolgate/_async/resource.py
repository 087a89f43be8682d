"""What the groups of operations share."""

from __future__ import annotations

from typing import Any

from .pager import AsyncPager
from .transport import AsyncTransport


class AsyncResource:
    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def _call(self, operation: str, **values: Any) -> Any:
        return await self._client._call(operation, **values)

    def _pager(self, operation: str, items: str, by_offset: bool = False, **values: Any) -> AsyncPager[Any]:
        async def fetch(**now: Any) -> Any:
            return await self._call(operation, **now)

        return AsyncPager(fetch, items, values, by_offset)
