"""The interface between a running call and its host: the gateway in a component (``guest``), a script in a test
(``testing``)."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import Any, Iterator, Protocol


@dataclasses.dataclass
class Request:
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes | None
    auth: str | None
    """The credential slot; none sends an anonymous request."""
    timeout_ms: int | None


@dataclasses.dataclass
class Response:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    url: str


class Host(Protocol):
    def send(self, request: Request) -> Response: ...
    def connected(self, slot: str) -> bool: ...
    def config(self, key: str) -> str | None: ...
    def now_ms(self) -> int: ...
    def remaining_ms(self) -> int: ...
    def cancelled(self) -> bool: ...
    def random_bytes(self, count: int) -> bytes: ...
    def log(self, level: str, message: str, fields: str) -> None: ...
    def progress(self, done: int, total: int | None, message: str) -> None: ...
    def partial(self, data: str) -> None: ...
    def kv_get(self, key: str) -> tuple[bytes, int] | None: ...
    def kv_set(self, key: str, value: bytes, ttl_seconds: int | None, if_version: int | None) -> int: ...
    def kv_delete(self, key: str) -> None: ...
    def kv_keys(self, prefix: str, cursor: str | None) -> tuple[list[str], str | None]: ...


_current: list[Any] = []


@contextmanager
def running(context: Any) -> Iterator[None]:
    """Makes ``context`` the call for which ``urllib`` sends requests."""
    _current.append(context)
    try:
        yield
    finally:
        _current.pop()


def current() -> Any:
    if not _current:
        raise RuntimeError("requests can be sent while a tool runs, and at no other time")
    return _current[-1]
