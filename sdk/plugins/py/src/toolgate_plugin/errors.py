"""The one error a tool answers with, and how a provider's HTTP answer becomes one. The rules are those of
``sdk/plugins/rust/src/http/problem.rs``; ``sdk/plugins/problems.json`` holds both to them."""

from __future__ import annotations

import json
import re
from email.message import Message
from typing import Any

TEXT_CHARS_MAX = 500
"""Longest text taken from a provider's answer."""
DETAILS_BYTES_MAX = 8 * 1024
"""Largest JSON answer passed on as details."""

KINDS = frozenset(
    "invalid-arguments auth-required auth-expired permission-denied not-found conflict rate-limited upstream "
    "unavailable too-large cancelled internal".split()
)


class ToolError(Exception):
    """Why a tool has no result. The host scrubs and cuts every text in it."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        code: str | None = None,
        retry_after_ms: int | None = None,
        http_status: int | None = None,
        field: str | None = None,
        details: Any = None,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"{kind} is not one of {', '.join(sorted(KINDS))}")
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.code = code
        self.retry_after_ms = retry_after_ms
        self.http_status = http_status
        self.field = field
        self.details = details

    @classmethod
    def invalid(cls, field: str, message: str) -> ToolError:
        """The caller's mistake; ``field`` is a JSON Pointer into the arguments, empty for all of them."""
        return cls("invalid-arguments", message, field=field or None)

    @classmethod
    def not_found(cls, message: str) -> ToolError:
        return cls("not-found", message)

    @classmethod
    def upstream(cls, message: str) -> ToolError:
        """An answer of the provider that cannot be used."""
        return cls("upstream", message)

    @classmethod
    def internal(cls, message: str) -> ToolError:
        return cls("internal", message)


_STATUS = {
    400: "invalid-arguments",
    401: "auth-expired",
    402: "permission-denied",
    403: "permission-denied",
    404: "not-found",
    408: "unavailable",
    409: "conflict",
    410: "not-found",
    412: "conflict",
    413: "too-large",
    422: "invalid-arguments",
    429: "rate-limited",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}
_MESSAGE_AT: list[list[str | int]] = [
    ["error", "message"],
    ["error_description"],
    ["error_message"],
    ["message"],
    ["errorMessages", 0],
    ["errors", 0, "message"],
    ["errors", 0, "detail"],
    ["detail"],
    ["detail", 0, "msg"],
    ["exception_detail", 0, "msg"],
    ["msg"],
    ["fault", "faultstring"],
    ["description"],
    ["reason"],
    ["errors", 0],
    ["title"],
    ["error"],
]
_CODE_AT: list[list[str | int]] = [
    ["error", "code"],
    ["error_code"],
    ["errcode"],
    ["code"],
    ["error", "status"],
    ["errorType"],
    ["errors", 0, "code"],
]


def kind_of(status: int, headers: Message) -> str:
    """The kind that a status means (RFC 9110, section 15). A 403 with a wait is a rate limit."""
    if status == 403 and ("retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"):
        return "rate-limited"
    return _STATUS.get(status, "upstream")


def problem(status: int, headers: Message, body: bytes) -> ToolError:
    """The error that an error response means, with the provider's own message."""
    text = body.decode("utf-8", "replace").strip()
    is_json = True
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed, is_json = None, False
    message = next((found for path in _MESSAGE_AT if isinstance(found := _at(parsed, path), str) and found.strip()), None)
    code = next((found for path in _CODE_AT if _is_code(found := _at(parsed, path))), None)
    is_page = text[:14].lower() == "<!doctype html" or text[:5].lower() == "<html"
    if message is None and is_page:
        message = _title(text)
    if message is None:
        is_plain_text = not is_json and text != "" and not text.startswith("<")
        message = text if is_plain_text else f"the provider answered with status {status}"
    kind = kind_of(status, headers)
    if is_page and kind == "permission-denied":
        # A page that blocks says nothing about the rights of the account.
        kind = "upstream"
    return ToolError(
        kind,
        _cut(message),
        code=None if code is None else _cut(str(code)),
        http_status=status,
        retry_after_ms=_retry_after_ms(headers),
        details=parsed if len(body) <= DETAILS_BYTES_MAX else None,
    )


def _title(page: str) -> str | None:
    """The title of an HTML page, in one line."""
    found = re.search(r"<title[^>]*>(.*?)</title", page, re.IGNORECASE | re.DOTALL)
    return (" ".join(found[1].split())[:200] or None) if found else None


def _is_code(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _at(value: Any, path: list[str | int]) -> Any:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARS_MAX else text[:TEXT_CHARS_MAX] + "…"


def _retry_after_ms(headers: Message) -> int | None:
    """``Retry-After`` in seconds (RFC 9110, section 10.2.3); the host has written dates and moments as seconds."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return int(min(seconds, 86_400) * 1000) if seconds >= 0 else None
