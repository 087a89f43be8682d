"""Lists that are read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class AsyncPager(Generic[T]):
    """All items of a list; each page is fetched when it is needed. `page` answers only one page."""

    def __init__(
        self, fetch: Callable[..., Awaitable[Any]], items: str, values: dict[str, Any], by_offset: bool = False
    ) -> None:
        self._fetch = fetch
        self._items = items
        self._values = values
        self._by_offset = by_offset

    async def page(self) -> Any:
        """The first page as the server answers it, with its `next_cursor` or `total`."""
        return await self._fetch(**self._values)

    async def __aiter__(self) -> AsyncIterator[T]:
        values = dict(self._values)
        while True:
            page = await self._fetch(**values)
            items = page[self._items]
            for item in items:
                yield item
            if self._by_offset:
                values["offset"] = page["offset"] + len(items)
                if not items or values["offset"] >= page["total"]:
                    return
            else:
                values["cursor"] = page.get("next_cursor")
                if not values["cursor"]:
                    return
