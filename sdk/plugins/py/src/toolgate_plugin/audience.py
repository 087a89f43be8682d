"""For which addresses a slot's credential is used. The gateway decides; this predicts its decision, because a request
that names a slot whose audience lacks the address is refused, and one that names none has no credential.
The rules are those of ``host/egress/src/grant.rs`` and ``host/gateway/src/connections/call.rs``."""

from __future__ import annotations

import re
import urllib.parse
from typing import Any, Callable

Config = Callable[[str], Any]
Origin = tuple[str, str, int | None]

_PORTS = {"https": 443, "http": 80}
_KEY = re.compile(r"\{([a-z0-9_]+)\}")


def holds(audience: list[str], url: str, config: Config) -> bool:
    """Whether one of the audience's origins is that of ``url``, both filled with the connection's parameters.

    ``https://{subdomain}.example.com`` and ``https://*.example.com`` are patterns; a whole ``{key}`` is the address
    that the operator wrote into that setting. ``config`` reads settings and parameters.
    """
    sent = _origin(_filled(url, config))
    return sent is not None and any(_is_in(sent, pattern, config) for pattern in audience)


def _is_in(sent: Origin, pattern: str, config: Config) -> bool:
    if setting := _KEY.fullmatch(pattern):
        address = config(setting[1])
        return isinstance(address, str) and sent == _origin(address)
    scheme, star, rest = pattern.partition("://*.")
    if not star:
        return sent == _origin(_filled(pattern, config))
    covering = _origin(f"{scheme}://{_filled(rest, config)}")
    # A subdomain of the pattern's host, on the same scheme and port.
    return covering is not None and covering[::2] == sent[::2] and sent[1].endswith(f".{covering[1]}")


def _filled(text: str, config: Config) -> str:
    """The text with each known parameter in place of its ``{key}``; an unknown ``{key}`` is not replaced."""

    def value(found: re.Match[str]) -> str:
        known = config(found[1])
        # One label of a host name: more could name somebody else's host.
        is_label = isinstance(known, str) and re.fullmatch("[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?", known)
        return str(known) if is_label else found[0]

    return _KEY.sub(value, text)


def _origin(url: str) -> Origin | None:
    """Scheme, host and port (RFC 6454) in the one form in which they are compared."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None
