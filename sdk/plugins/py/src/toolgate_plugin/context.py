"""What a tool can use during a call: settings, time, its page, small state, log, progress and partial results."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from . import audience, http
from .errors import ToolError
from .host import Host


class Context:
    """One running call. Requests are sent with ``urllib.request``, as in any program."""

    def __init__(
        self,
        host: Host,
        *,
        session: str | None,
        cursor: str | None,
        slots: list[dict[str, Any]],
        auth_optional: bool,
        addresses: list[str],
    ) -> None:
        self.host = host
        self.session = session
        """The gateway's session, for tools of several steps."""
        self.cursor = cursor
        """The cursor of the page that the caller asks for; none for the first page."""
        self._slots = slots
        self._auth_optional = auth_optional
        # Settings with `adds_host`: an audience that names one as `{key}` contains the operator's address.
        self._addresses = addresses

    @functools.cached_property
    def slot(self) -> str | None:
        """The credential slot for this call: the first of the tool's slots that is connected. When none is,
        the first one, so that the gateway asks the user to connect it; none for a tool that also runs without one.
        """
        names: list[str] = [slot["slot"] for slot in self._slots]
        if len(names) == 1 and not self._auth_optional:
            return names[0]
        connected = next((name for name in names if self.host.connected(name)), None)
        return connected or (names[0] if names and not self._auth_optional else None)

    def slot_for(self, url: str) -> str | None:
        """The slot whose credential is sent with a request: this call's, if its audience contains the address."""
        chosen = next((slot for slot in self._slots if slot["slot"] == self.slot), None)
        if chosen is None:
            return None
        settings = [f"{{{key}}}" for key in self._addresses]
        places = [place for place in chosen["audience"] if place.startswith("https://") or place in settings]
        return self.slot if audience.holds(places, url, self.config) else None

    def json(self, url: str, *, method: str = "GET", body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """The JSON that an address answers."""
        return http.json_of(method, url, body, headers or {})

    def config(self, key: str) -> Any:
        """An operator's setting or a connection parameter; none when unset. Never a secret."""
        text = self.host.config(key)
        return None if text is None else json.loads(text)

    def page_number(self, first: int = 1) -> int:
        """The cursor of a tool whose pages are numbered, ``first`` for the first page."""
        if self.cursor is None:
            return first
        if not re.fullmatch("[0-9]{1,15}", self.cursor):
            raise ToolError.invalid("/cursor", "the cursor is not one that this tool gave out")
        return int(self.cursor)

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return self.host.now_ms()

    def remaining_ms(self) -> int:
        """Milliseconds until the call's time limit."""
        return self.host.remaining_ms()

    def cancelled(self) -> bool:
        """Whether the caller has cancelled the call."""
        return self.host.cancelled()

    def random_bytes(self, count: int) -> bytes:
        return self.host.random_bytes(count)

    def log(self, level: str, message: str, **fields: Any) -> None:
        """A line in the gateway's log: debug, info, warn or error. Never arguments, bodies or personal data."""
        self.host.log(level, message, json.dumps(fields))

    def progress(self, done: int, total: int | None, message: str) -> None:
        """How far a long call has come."""
        self.host.progress(done, total, message)

    def partial(self, data: Any) -> None:
        """A part of the result, sent before the complete one to callers that read a stream of REST.

        The result has to contain it too: most callers do not read the stream.
        """
        self.host.partial(json.dumps(data))

    def kv_get(self, key: str) -> tuple[Any, int] | None:
        """The session's value for this service under ``key``, and its version. Needs the capability ``kv``."""
        entry = self.host.kv_get(key)
        return None if entry is None else (json.loads(entry[0]), entry[1])

    def kv_set(
        self, key: str, value: Any, *, ttl_seconds: int | None = None, if_version: int | None = None
    ) -> int:
        return self.host.kv_set(key, json.dumps(value).encode(), ttl_seconds, if_version)

    def kv_delete(self, key: str) -> None:
        self.host.kv_delete(key)

    def kv_keys(self, prefix: str = "", cursor: str | None = None) -> tuple[list[str], str | None]:
        return self.host.kv_keys(prefix, cursor)
