"""How ``urllib`` sends requests from the sandbox: ``urllib.request.urlopen`` sends through the gateway.

The component has no socket. ``install`` gives ``urllib`` an opener that sends only through the contract's
``egress``: the gateway decides, follows redirects, adds the credential and limits the answer's size. A refusal is a
``Refused`` (a ``urllib.error.URLError``), an error response an ``urllib.error.HTTPError`` as usual.
"""

from __future__ import annotations

import http.client
import io
import json
import urllib.error
import urllib.request
import urllib.response
from typing import Any

from . import host
from .errors import ToolError, problem

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_KINDS = {
    "denied": ("permission-denied", "egress_denied"),
    "auth-required": ("auth-required", "auth_required"),
    "auth-expired": ("auth-expired", "auth_expired"),
    "scope-missing": ("permission-denied", "scope_missing"),
    "too-large": ("too-large", "too_large"),
    "budget-exhausted": ("too-large", "budget_exhausted"),
    "leak-blocked": ("permission-denied", "leak_blocked"),
    "cancelled": ("cancelled", "cancelled"),
}


class Refused(urllib.error.URLError):
    """A request without an answer: ``kind`` is the contract's ``failure-kind``."""

    def __init__(self, kind: str, message: str, sent: bool) -> None:
        super().__init__(message)
        self.kind = kind
        self.sent = sent

    def error(self) -> ToolError:
        kind, code = _KINDS.get(self.kind, ("unavailable", self.kind.replace("-", "_")))
        message = str(self.reason)
        if self.sent and kind == "unavailable":
            message += "; the provider may have acted on the request"
        return ToolError(kind, message, code=code)


class _Egress(urllib.request.BaseHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        method = request.get_method()
        if method not in METHODS:
            raise urllib.error.URLError(f"the method {method} is not one of {', '.join(METHODS)}")
        data: Any = request.data
        if data is not None and not isinstance(data, (bytes, bytearray)):
            data = data.read() if hasattr(data, "read") else b"".join(data)
        if data is not None and not request.has_header("Content-type"):
            request.add_unredirected_header("Content-type", "application/x-www-form-urlencoded")
        context = host.current()
        seconds = request.timeout if isinstance(request.timeout, (int, float)) else None
        answer = context.host.send(
            host.Request(
                method=method,
                url=request.full_url,
                headers=[(name.lower(), value) for name, value in request.header_items()],
                body=None if data is None else bytes(data),
                auth=context.slot_for(request.full_url),
                timeout_ms=None if seconds is None else int(seconds * 1000),
            )
        )
        headers = http.client.HTTPMessage()
        for name, value in answer.headers:
            headers[name] = value
        response = urllib.response.addinfourl(io.BytesIO(answer.body), headers, answer.url, answer.status)
        response.msg = http.client.responses.get(answer.status, "")  # type: ignore[attr-defined]
        return response

    # The gateway refuses plain http, except for an address that the operator named.
    http_open = https_open


def opener() -> urllib.request.OpenerDirector:
    """``urllib``'s own director without a handler that could look for a socket."""
    director = urllib.request.OpenerDirector()
    for handler in (
        _Egress(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        director.add_handler(handler)
    return director


def install() -> None:
    urllib.request.install_opener(opener())


def from_url_error(cause: urllib.error.URLError) -> ToolError:
    """The tool's error for a failed request that the tool did not handle."""
    if isinstance(cause, urllib.error.HTTPError):
        return problem(cause.code, cause.headers, cause.read())
    if isinstance(cause, Refused):
        return cause.error()
    return ToolError("unavailable", str(cause.reason), code="request_failed")


def json_of(method: str, url: str, body: Any, headers: dict[str, str]) -> Any:
    """The JSON that an address answers, none for an empty answer."""
    data = None if body is None else json.dumps(body).encode()
    given = {"accept": "application/json", **headers}
    if data is not None:
        given["content-type"] = "application/json"
    request = urllib.request.Request(url, data=data, headers=given, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise ToolError.upstream("the provider answered with something that is not JSON") from None
