"""A plugin in one declaration: the manifest's keys and, by decorator, its tools."""

from __future__ import annotations

import dataclasses
import json
import re
import typing
import urllib.error
from typing import Any, Callable, TypeVar

from . import check, host, http, schema
from .context import Context
from .errors import ToolError
from .output import Output

MEMORY_MIB = 192
"""Memory that a Python plugin asks for: the interpreter with its library alone needs twenty MiB."""
EFFECTS = ("read", "write", "destructive")
CURSOR = {
    "description": "Where to go on: the next_cursor of the page before. Leave out for the first page.",
    "type": "string",
    "maxLength": 2048,
}
F = TypeVar("F", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    run: Callable[..., Any]
    spec: dict[str, Any]
    hints: dict[str, Any]


class Plugin:
    """The keys of the manifest in their JSON form; ``tool`` adds a tool."""

    def __init__(
        self,
        *,
        service: str,
        title: str,
        version: str,
        description: str,
        capabilities: list[str] | None = None,
        limits: dict[str, int] | None = None,
        **more: Any,
    ) -> None:
        self._head = {
            "manifest": 1,
            "service": service,
            "title": title,
            "version": version,
            "description": description,
            **more,
            "capabilities": ["egress"] if capabilities is None else capabilities,
            "limits": {"memory_mib": MEMORY_MIB, **(limits or {})},
        }
        check.plugin(self._head)
        self.tools: dict[str, Tool] = {}

    def tool(
        self,
        *,
        effect: str,
        title: str | None = None,
        idempotent: bool = False,
        paginated: bool = False,
        auth: list[str] | None = None,
        auth_optional: bool = False,
        scopes: list[str] | None = None,
        keywords: list[str] | None = None,
        requests: list[str] | None = None,
        queries: list[str] | None = None,
        triggers: list[dict[str, Any]] | None = None,
        examples: list[dict[str, Any]] | None = None,
        output: dict[str, Any] | None = None,
        deprecated: str | None = None,
    ) -> Callable[[F], F]:
        """Makes a function a tool. Its docstring is the description, its parameters are what it takes.

        `requests` are what people say when they want the tool, at most eight, for the search; `triggers` are events that
        the gateway finds by calling the tool from time to time, in the manifest's form.
        """
        if effect not in EFFECTS:
            raise ValueError(f"effect is {', '.join(EFFECTS)}, not {effect}")

        def add(function: F) -> F:
            name = function.__name__
            if not re.fullmatch("[a-z][a-z0-9_]*", name):
                raise ValueError(f"a tool's name is lower-case words, not {name}")
            if name in self.tools:
                raise ValueError(f"two tools are called {name}")
            description, takes = schema.of_function(function)
            if paginated:
                takes["properties"]["cursor"] = CURSOR
            spec = {
                "name": name,
                "title": title or name.replace("_", " ").capitalize(),
                "description": description,
                "input": takes,
                "output": output,
                "effect": effect,
                "idempotent": idempotent or None,
                "paginated": paginated or None,
                "auth": auth,
                "auth_optional": auth_optional or None,
                "scopes": scopes,
                "keywords": keywords,
                "requests": requests,
                "queries": queries,
                "triggers": triggers,
                "examples": examples,
                "deprecated": deprecated,
            }
            given = {key: value for key, value in spec.items() if value is not None}
            check.tool(given, [slot["slot"] for slot in self._head.get("auth", [])])
            hints = typing.get_type_hints(function, include_extras=True)
            self.tools[name] = Tool(name, function, given, hints)
            return function

        return add

    @property
    def manifest(self) -> dict[str, Any]:
        every = [slot["slot"] for slot in self._head.get("auth", [])]
        return {**self._head, "tools": [{"auth": every, **tool.spec} for tool in self.tools.values()]}

    def manifest_json(self) -> str:
        return json.dumps(self.manifest, ensure_ascii=False, separators=(",", ":"))

    def call(
        self, name: str, arguments: str, gateway: host.Host, *, session: str | None = None, cursor: str | None = None
    ) -> Output:
        """Runs one tool; ``gateway`` is the host of the call.

        Raises:
            ToolError: the tool has no result.
        """
        tool = self.tools.get(name)
        if tool is None:
            raise ToolError.internal(f"there is no tool {name}")
        given = json.loads(arguments)
        values = {
            parameter.name: schema.from_json(tool.hints[parameter.name], given[parameter.name])
            for parameter in schema.parameters(tool.run)
            if parameter.name in given
        }
        slots = self._head.get("auth", [])
        named = tool.spec.get("auth")
        context = Context(
            gateway,
            session=session,
            cursor=cursor,
            slots=slots if named is None else [slot for slot in slots if slot["slot"] in named],
            auth_optional=tool.spec.get("auth_optional", False),
            addresses=[key["key"] for key in self._head.get("config", []) if key.get("adds_host")],
        )
        with host.running(context):
            try:
                answer = tool.run(context, **values)
            except urllib.error.URLError as cause:
                raise http.from_url_error(cause) from cause
        return answer if isinstance(answer, Output) else Output(answer)
