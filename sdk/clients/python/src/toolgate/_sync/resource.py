"""What the groups of operations share. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

from typing import Any

from .pager import Pager
from .transport import Transport


class Resource:
    def __init__(self, client: Transport) -> None:
        self._client = client

    def _call(self, operation: str, **values: Any) -> Any:
        return self._client._call(operation, **values)

    def _pager(self, operation: str, items: str, by_offset: bool = False, **values: Any) -> Pager[Any]:
        def fetch(**now: Any) -> Any:
            return self._call(operation, **now)

        return Pager(fetch, items, values, by_offset)
