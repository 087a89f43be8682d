"""Lists that are read page by page. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Pager(Generic[T]):
    """All items of a list; each page is fetched when it is needed. `page` answers only one page."""

    def __init__(
        self, fetch: Callable[..., Any], items: str, values: dict[str, Any], by_offset: bool = False
    ) -> None:
        self._fetch = fetch
        self._items = items
        self._values = values
        self._by_offset = by_offset

    def page(self) -> Any:
        """The first page as the server answers it, with its `next_cursor` or `total`."""
        return self._fetch(**self._values)

    def __iter__(self) -> Iterator[T]:
        values = dict(self._values)
        while True:
            page = self._fetch(**values)
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
