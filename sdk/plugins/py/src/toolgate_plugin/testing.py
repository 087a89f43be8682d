"""The host of a test: settings, exchanges, a memory for state. A plugin's tests run natively, ``pytest``, and
send nothing: ``urllib`` is answered from a script that also checks what was sent.

One file in ``examples/`` for each case, in the form that ``toolgate plugin test`` replays in the sandbox::

    { "note": "Written from the published description; not a recording.",
      "source": "https://docs.example.com/notes#get",
      "tool": "get_note", "arguments": { "id": 7 }, "cursor": null, "config": {}, "connected": ["user"],
      "exchanges": [{ "request": { "method": "GET", "url": "https://api.example.com/notes/7" },
                      "response": { "status": 200, "body": { "id": 7 } } }],
      "result": { "id": 7 }, "next_cursor": null }

In place of ``result``, ``error`` names the members of the error that matter.
"""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from . import host, http, schema
from .errors import ToolError
from .output import Output
from .plugin import Plugin

KEYS = {
    "note", "source", "tool", "arguments", "cursor", "config", "connected", "parameters", "exchanges", "result",
    "next_cursor", "summary", "error",
}  # fmt: skip


class MockHost:
    """A host that answers from a script."""

    def __init__(
        self,
        *,
        config: dict[str, Any] | None = None,
        connected: list[str] | None = None,
        exchanges: list[dict[str, Any]] | None = None,
        now_ms: int = 1_767_225_600_000,
    ) -> None:
        self.settings = config or {}
        self.slots = connected
        self.exchanges = list(exchanges or [])
        self.now = now_ms
        self.sent: list[str] = []
        self.complaints: list[str] = []
        self.entries: dict[str, tuple[bytes, int]] = {}
        self.lines: list[tuple[str, str]] = []

    def call(self, plugin: Plugin, tool: str, arguments: dict[str, Any] | None = None, cursor: str | None = None) -> Output:
        """Calls one tool. Raises, as tests do, when the plugin sent something else than expected."""
        before = urllib.request._opener  # type: ignore[attr-defined]
        http.install()
        ended: Output | ToolError
        try:
            ended = plugin.call(tool, json.dumps(arguments or {}), self, cursor=cursor)
        except ToolError as error:
            ended = error
        finally:
            urllib.request.install_opener(before)
        if self.exchanges:
            self.complaints.append(f"never sent: {self.exchanges[0].get('request')}")
        assert not self.complaints, f"{tool}: {'; '.join(self.complaints)}\nit ended with {ended!r}"
        if isinstance(ended, ToolError):
            raise ended
        return ended

    def send(self, request: host.Request) -> host.Response:
        place, sent_query = _split(request.url)
        self.sent.append(f"{request.method} {place}")
        if not self.exchanges:
            self.complaints.append(f"not expected: {request}")
            raise http.Refused("protocol", "the script has no more answers", False)
        exchange = self.exchanges.pop(0)
        expected = exchange.get("request", {})
        complaints = len(self.complaints)

        def compare(what: str, sent: Any, expected_value: Any) -> None:
            if sent != expected_value:
                self.complaints.append(f"{what}: sent {sent!r}, expected {expected_value!r}")

        expected_place, expected_query = _split(expected["url"]) if "url" in expected else (place, {})
        compare("url", place, expected_place)
        compare("query", sent_query, expected_query | _texts(expected.get("query", {})))
        for key, sent in (("method", request.method), ("auth", request.auth)):
            if key in expected:
                compare(key, sent, expected[key])
        compare("body", _body(request.body), expected.get("body"))
        headers = dict(request.headers)
        for name, value in expected.get("headers", {}).items():
            compare(name, headers.get(name.lower()), value)
        if len(self.complaints) > complaints:
            raise http.Refused("protocol", "another request was expected", False)
        answer = exchange.get("response", {})
        if failure := answer.get("failure"):
            raise http.Refused(failure["kind"], failure.get("message", ""), failure.get("sent", False))
        body = answer.get("body")
        content = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        return host.Response(answer.get("status", 200), list(answer.get("headers", {}).items()), content, request.url)

    def connected(self, slot: str) -> bool:
        return self.slots is None or slot in self.slots

    def config(self, key: str) -> str | None:
        return json.dumps(self.settings[key]) if key in self.settings else None

    def now_ms(self) -> int:
        return self.now

    def remaining_ms(self) -> int:
        return 30_000

    def cancelled(self) -> bool:
        return False

    def random_bytes(self, count: int) -> bytes:
        """Bytes that count up: 0, 1, 2 ..."""
        return bytes(index % 256 for index in range(count))

    def log(self, level: str, message: str, fields: str) -> None:
        self.lines.append((level, message))

    def progress(self, done: int, total: int | None, message: str) -> None:
        pass

    def partial(self, data: str) -> None:
        pass

    def kv_get(self, key: str) -> tuple[bytes, int] | None:
        return self.entries.get(key)

    def kv_set(self, key: str, value: bytes, ttl_seconds: int | None, if_version: int | None) -> int:
        version = self.entries.get(key, (b"", 0))[1]
        if if_version is not None and if_version != version:
            raise ToolError("conflict", f"{key} has changed")
        self.entries[key] = (value, version + 1)
        return version + 1

    def kv_delete(self, key: str) -> None:
        self.entries.pop(key, None)

    def kv_keys(self, prefix: str, cursor: str | None) -> tuple[list[str], str | None]:
        return [key for key in self.entries if key.startswith(prefix)], None


def examples(folder: str | Path) -> list[Path]:
    """The example files of a folder, for ``pytest.mark.parametrize``."""
    found = sorted(Path(folder).glob("*.json"))
    assert found, f"{folder} has no examples"
    return found


def replay(plugin: Plugin, file: Path) -> None:
    """Runs one example file and compares how it ends."""
    example = json.loads(file.read_text())
    assert not example.keys() - KEYS, f"unknown keys: {example.keys() - KEYS}"
    assert example.get("note") and example.get("source"), "`note` and `source` say where the example comes from"
    assert ("result" in example) != ("error" in example), "needs either `result` or `error`"
    mock = MockHost(
        config={**example.get("parameters", {}), **example.get("config", {})},
        connected=example.get("connected"),
        exchanges=example.get("exchanges"),
    )
    try:
        output = mock.call(plugin, example["tool"], example.get("arguments"), example.get("cursor"))
    except ToolError as error:
        assert "error" in example, f"{error.kind}: {error.message}"
        assert {key: getattr(error, key) for key in example["error"]} == example["error"]
        return
    assert "error" not in example, f"expected an error, got {output.data!r}"
    assert json.loads(json.dumps(schema.to_json(output.data))) == example["result"]
    assert output.next_cursor == example.get("next_cursor")
    if "summary" in example:
        assert output.summary == example["summary"]


def without_example(plugin: Plugin, folder: str | Path) -> list[str]:
    """Tools without an example that succeeds."""
    shown = {example["tool"] for file in examples(folder) if "error" not in (example := json.loads(file.read_text()))}
    return [name for name in plugin.tools if name not in shown]


def _split(url: str) -> tuple[str, dict[str, Any]]:
    parts = urllib.parse.urlsplit(url)
    query: dict[str, Any] = {}
    for key, value in urllib.parse.parse_qsl(parts.query, keep_blank_values=True):
        if key in query:
            query[key] = [*(query[key] if isinstance(query[key], list) else [query[key]]), value]
        else:
            query[key] = value
    return f"{parts.scheme}://{parts.netloc}{parts.path}", query


def _texts(query: dict[str, Any]) -> dict[str, Any]:
    return {key: value if isinstance(value, (str, list)) else json.dumps(value) for key, value in query.items()}


def _body(body: bytes | None) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
