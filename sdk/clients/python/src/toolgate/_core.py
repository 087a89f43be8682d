"""What both clients share and what needs no network: settings, requests, answers, when to retry."""

from __future__ import annotations

import json
import logging
import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from ._routes import ROUTES, Route
from ._version import VERSION
from .errors import (
    BY_STATUS,
    APIError,
    InvalidResponse,
    RedirectRefused,
    ServerError,
    ToolgateError,
)

USER_AGENT = f"toolgate-python/{VERSION}"
DEFAULT_URL = "http://127.0.0.1:8080"
ANSWER_BYTES_MAX = 64 << 20
BACKOFF_FIRST_S = 0.5
BACKOFF_MAX_S = 8.0
# How the headers that a caller can set are called as arguments.
HEADERS = {"Idempotency-Key": "idempotency_key", "If-None-Match": "if_none_match", "If-Match": "if_match"}
# Operations that answer a text and no envelope.
TEXTS = frozenset({"get_tool_types"})

log = logging.getLogger("toolgate")


@dataclass(frozen=True)
class Settings:
    """How a client behaves. Its `repr` never contains the key."""

    base_url: str
    authorization: Callable[[], str]
    timeout: float
    max_retries: int
    max_retry_wait: float

    @classmethod
    def create(cls, api_key: str, base_url: str, timeout: float, max_retries: int, max_retry_wait: float) -> Settings:
        # Checked here, because an HTTP library that refuses a header may print its value.
        if not api_key:
            raise ValueError("no API key: pass api_key or set TOOLGATE_API_KEY")
        if not re.fullmatch(r"[!-~]{1,512}", api_key):
            raise ValueError("the API key has characters that no key has")
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an http or https address")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("base_url must have no user, query or fragment")
        header = f"Bearer {api_key}"
        return cls(base_url.rstrip("/"), lambda: header, timeout, max_retries, max_retry_wait)


@dataclass(frozen=True)
class Request:
    operation: str
    method: str
    url: str
    # The key is among them.
    headers: dict[str, str] = field(repr=False)
    content: bytes | None
    # Whether it may be sent again although the first try may have been executed.
    repeatable: bool


def request(settings: Settings, operation: str, values: Mapping[str, Any]) -> Request:
    """The request of an operation. A value that is `None` is not sent."""
    route: Route = ROUTES[operation]
    given = {name: value for name, value in values.items() if value is not None}
    path = re.sub(r"\{(\w+)\}", lambda found: quote(_segment(found[1], given.pop(found[1])), safe=""), route.path)
    headers = {"Accept": "application/json", "User-Agent": USER_AGENT, "Authorization": settings.authorization()}
    repeatable = route.method == "GET"
    if "Idempotency-Key" in route.header:
        # Made once and sent with every try, so that a call whose answer was lost is not executed twice.
        given.setdefault("idempotency_key", str(uuid.uuid4()))
        repeatable = True
    for header in route.header:
        value = given.pop(HEADERS[header], None)
        if value is not None:
            headers[header] = str(value)
    query = {name: str(given.pop(name)) for name in route.query if name in given}
    content = None
    if route.body or route.method in ("POST", "PUT", "PATCH"):
        content = json.dumps({name: given.pop(name) for name in route.body if name in given}).encode()
        headers["Content-Type"] = "application/json"
    if given:
        raise TypeError(f"{operation} takes no {', '.join(given)}")
    url = f"{settings.base_url}{path}"
    if query:
        url += f"?{httpx.QueryParams(query)}"
    return Request(operation, route.method, url, headers, content, repeatable)


def _segment(name: str, value: Any) -> str:
    text = str(value)
    # Both would change which path is meant.
    if text in ("", ".", ".."):
        raise ValueError(f"{name} must not be {text!r}")
    return text


@dataclass(frozen=True)
class Answer:
    data: Any
    request_id: str
    headers: Mapping[str, str]


def answer(status: int, headers: Mapping[str, str], body: bytes, is_text: bool = False) -> Answer:
    """Reads an answer, or raises the error in it. `is_text`: a good answer is a text and no envelope."""
    request_id = headers.get("x-request-id")
    if status == 304:
        return Answer(None, request_id or "", headers)
    if 300 <= status < 400:
        host = urlsplit(headers.get("location", "")).hostname or "another path"
        raise RedirectRefused(f"the server answers {status} to {host}", status=status, request_id=request_id)
    if is_text and 200 <= status < 300 and headers.get("content-type", "").startswith("text/plain"):
        return Answer(body.decode("utf-8", "replace"), request_id or "", headers)
    try:
        envelope = json.loads(body)
        success, meta = envelope["success"], envelope["meta"]["request_id"]
        if success is True and 200 <= status < 300:
            return Answer(envelope["data"], meta, headers)
        error = envelope["error"]
        code, message = error["code"], error["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _not_toolgate(status, headers, request_id) from None
    kind = BY_STATUS.get(status, ServerError if status >= 500 else APIError)
    raise kind(
        str(message),
        code=str(code),
        status=status,
        request_id=str(meta),
        can_retry=True if code == "in_progress" else None,
        retry_after=retry_after(headers),
        hint=error.get("hint"),
        details=error.get("details"),
    )


def _not_toolgate(status: int, headers: Mapping[str, str], request_id: str | None) -> ToolgateError:
    """A proxy answered, or the server is not toolgate."""
    return InvalidResponse(
        f"the answer with status {status} is not the API's JSON",
        status=status,
        request_id=request_id,
        can_retry=status in (429, 502, 503, 504),
        retry_after=retry_after(headers),
    )


def too_large() -> ToolgateError:
    return InvalidResponse(f"the answer is larger than {ANSWER_BYTES_MAX} bytes")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds. A date counts as absent: the server never sends one."""
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def wait_before_retry(settings: Settings, sent: Request, error: ToolgateError, tries: int) -> float | None:
    """Seconds to wait before the next try, or `None` if the error is to be raised.

    A request that was refused with 429 or 503 was not executed and may always be repeated; any other one only if it
    is repeatable.
    """
    if tries >= settings.max_retries or not error.can_retry:
        return None
    refused = isinstance(error, APIError) and error.status in (429, 503)
    if not (sent.repeatable or refused):
        return None
    backoff = min(BACKOFF_MAX_S, BACKOFF_FIRST_S * 2**tries) * random.uniform(0.5, 1.0)
    wait = backoff if error.retry_after is None else max(error.retry_after, 0.0)
    if wait > settings.max_retry_wait:
        return None
    log.debug("%s: %s, trying again in %.1f s", sent.operation, error.code, wait)
    return wait
