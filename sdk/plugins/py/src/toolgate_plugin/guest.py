"""The exported side of the component: one invocation in, one output or error back. The build script's entry
imports this, and nothing else does: the modules of the world are there in the component alone."""

# mypy: disable-error-code="no-any-return, import-not-found, unused-ignore"

from __future__ import annotations

import json
import socket
import traceback
from typing import Any

import wit_world.exports
from componentize_py_types import Err
from wit_world.exports import integration as wit
from wit_world.imports import call, types

from . import host, http, schema
from .errors import ToolError
from .plugin import Plugin

try:
    from wit_world.imports import egress
except ImportError:
    egress = None
try:
    from wit_world.imports import kv
except ImportError:
    kv = None


class Gateway:
    """The gateway as the host of a call."""

    def send(self, request: host.Request) -> host.Response:
        if egress is None:
            raise ToolError.internal("the plugin does not list the capability `egress`")
        body = egress.Body_Empty() if request.body is None else egress.Body_Bytes(request.body)
        try:
            answer = egress.send(
                egress.Request(
                    egress.Method[request.method],
                    request.url,
                    [],
                    request.headers,
                    body,
                    request.auth,
                    egress.ResponseMode.BUFFERED,
                    request.timeout_ms,
                    None,
                )
            )
        except Err as cause:
            failure = cause.value
            kind = failure.kind.name.lower().replace("_", "-")
            raise http.Refused(kind, failure.message, failure.sent) from None
        return host.Response(answer.status, answer.headers, answer.data, answer.url)

    def connected(self, slot: str) -> bool:
        return egress is not None and egress.connected(slot)

    def config(self, key: str) -> str | None:
        return call.config(key)

    def now_ms(self) -> int:
        return call.now_ms()

    def remaining_ms(self) -> int:
        return call.remaining_ms()

    def cancelled(self) -> bool:
        return call.cancelled()

    def random_bytes(self, count: int) -> bytes:
        return call.random_bytes(count)

    def log(self, level: str, message: str, fields: str) -> None:
        call.log(types.LogLevel[level.upper()], message, fields)

    def progress(self, done: int, total: int | None, message: str) -> None:
        call.progress(done, total, message)

    def partial(self, data: str) -> None:
        call.partial(data)

    def kv_get(self, key: str) -> tuple[bytes, int] | None:
        entry = _unwrap_host_result(_kv().get, key)
        return None if entry is None else (entry.value, entry.version)

    def kv_set(self, key: str, value: bytes, ttl_seconds: int | None, if_version: int | None) -> int:
        return _unwrap_host_result(_kv().set, key, value, ttl_seconds, if_version)

    def kv_delete(self, key: str) -> None:
        _unwrap_host_result(_kv().delete, key)

    def kv_keys(self, prefix: str, cursor: str | None) -> tuple[list[str], str | None]:
        return _unwrap_host_result(_kv().list_keys, prefix, cursor)


def _kv() -> Any:
    if kv is None:
        raise ToolError.internal("the plugin does not list the capability `kv`")
    return kv


def _unwrap_host_result(function: Any, *arguments: Any) -> Any:
    """Calls a function of the host; its error becomes a ``ToolError``."""
    try:
        return function(*arguments)
    except Err as cause:
        error = cause.value
        kind = error.kind.name.lower().replace("_", "-")
        raise ToolError(kind, error.message, code=error.code) from None


class _NoSocket(socket.socket):
    def __init__(self, *_: Any, **__: Any) -> None:
        raise PermissionError("a plugin has no sockets: send requests with urllib.request")


def _no_resolver(*_: Any, **__: Any) -> Any:
    raise PermissionError("a plugin resolves no names: send requests with urllib.request")


def bind(plugin: Plugin, manifest: str) -> type[Any]:
    """The export ``integration`` of a plugin whose manifest is ``manifest``."""
    http.install()
    socket.socket = _NoSocket  # type: ignore[misc]
    socket.getaddrinfo = _no_resolver
    gateway = Gateway()

    class Integration(wit_world.exports.Integration):  # type: ignore[misc]
        def describe(self) -> str:
            return manifest

        def invoke(self, req: Any) -> Any:
            try:
                output = plugin.call(req.tool, req.arguments, gateway, session=req.session, cursor=req.cursor)
                data = json.dumps(schema.to_json(output.data), ensure_ascii=False, allow_nan=False)
            except ToolError as error:
                raise _to_wire_error(error) from None
            except Exception as cause:
                # One call, so that it is one line of the gateway's log.
                gateway.log("error", "".join(traceback.format_exception(cause)), "{}")
                message = f"the plugin failed: {type(cause).__name__}: {cause}"
                raise _to_wire_error(ToolError.internal(message)) from None
            return wit.Output(data, output.files, output.next_cursor, output.summary, None)

    return Integration


def _to_wire_error(error: ToolError) -> Err:
    return Err(
        types.ToolError(
            types.ErrorKind[error.kind.upper().replace("-", "_")],
            error.code,
            error.message,
            error.retry_after_ms,
            error.http_status,
            error.field,
            None if error.details is None else json.dumps(error.details),
        )
    )
