"""A toolset's tools as classes of agent frameworks.

Each function takes the definitions of a toolset (name, description, lowered schema) and its `call`, with or without
asyncio. The framework's package is imported when it is used, and is not a dependency of this one.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from .dialects import Lowered

ToolDefinition: TypeAlias = tuple[str, str, Lowered]
CallTool: TypeAlias = Callable[[str, dict[str, Any]], dict[str, Any] | Awaitable[dict[str, Any]]]


async def _call_async(call: CallTool, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer of a call; a client without asyncio runs in a thread, so that it does not block the event loop."""
    if inspect.iscoroutinefunction(call):
        return cast("dict[str, Any]", await call(name, arguments))
    return cast("dict[str, Any]", await asyncio.to_thread(call, name, arguments))


def openai_agents(definitions: list[ToolDefinition], call: CallTool) -> list[Any]:
    """Tools of the OpenAI Agents SDK; needs `openai-agents`."""
    from agents import FunctionTool

    def one(name: str, description: str, lowered: Lowered) -> Any:
        async def invoke(_context: Any, arguments: str) -> str:
            return json.dumps(await _call_async(call, name, json.loads(arguments or "{}")))

        return FunctionTool(
            name=name,
            description=description,
            params_json_schema=dict(lowered.schema),
            on_invoke_tool=invoke,
            # The schema is lowered already; the package's strict mode refuses schemas that it cannot tighten.
            strict_json_schema=False,
        )

    return [one(*tool) for tool in definitions]


def pydantic_ai(definitions: list[ToolDefinition], call: CallTool) -> list[Any]:
    """Tools of Pydantic AI; needs `pydantic-ai-slim`."""
    from pydantic_ai import Tool

    def one(name: str, description: str, lowered: Lowered) -> Any:
        async def run(**arguments: Any) -> dict[str, Any]:
            return await _call_async(call, name, arguments)

        return Tool.from_schema(run, name=name, description=description, json_schema=dict(lowered.schema))

    return [one(*tool) for tool in definitions]


def llama_index(definitions: list[ToolDefinition], call: CallTool) -> list[Any]:
    """Tools of LlamaIndex; needs `llama-index-core`. Without asyncio they run only with a client without it."""
    from llama_index.core.tools import FunctionTool

    def one(name: str, description: str, lowered: Lowered) -> Any:
        async def arun(**arguments: Any) -> str:
            return json.dumps(await _call_async(call, name, arguments))

        def run(**arguments: Any) -> str:
            return _call_sync(call, name, arguments, "LlamaIndex")

        return FunctionTool.from_defaults(
            fn=run, async_fn=arun, name=name, description=description, fn_schema=_model(name, lowered)
        )

    return [one(*tool) for tool in definitions]


def crewai(definitions: list[ToolDefinition], call: CallTool) -> list[Any]:
    """Tools of CrewAI; needs `crewai`, and a client without asyncio."""
    from crewai.tools import BaseTool

    def one(name: str, description: str, lowered: Lowered) -> Any:
        class ToolgateTool(BaseTool):  # type: ignore[misc]
            def _run(self, **arguments: Any) -> str:
                return _call_sync(call, name, _without_none(lowered, arguments), "CrewAI")

        return ToolgateTool(name=name, description=description, args_schema=_model(name, lowered))

    return [one(*tool) for tool in definitions]


def _call_sync(call: CallTool, name: str, arguments: dict[str, Any], framework: str) -> str:
    """The result for the model as JSON text: these frameworks would write a dict in Python's notation."""
    if inspect.iscoroutinefunction(call):
        raise TypeError(f"{framework} runs this tool without asyncio: use Toolgate in place of AsyncToolgate")
    return json.dumps(call(name, arguments))


def _without_none(lowered: Lowered, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without the `None` that a Pydantic model has for each one that was left out."""
    required = set(cast("list[str]", lowered.schema.get("required", [])))
    return {name: value for name, value in arguments.items() if value is not None or name in required}


def _model(name: str, lowered: Lowered) -> Any:
    """A Pydantic model with exactly this schema; the values are checked by the server."""
    from pydantic import ConfigDict, Field, create_model

    properties = cast("dict[str, dict[str, Any]]", lowered.schema.get("properties", {}))
    required = set(cast("list[str]", lowered.schema.get("required", [])))
    fields: dict[str, Any] = {
        field: (Any, Field(... if field in required else None, description=schema.get("description")))
        for field, schema in properties.items()
    }
    base = create_model(f"{name}_arguments", __config__=ConfigDict(extra="allow"), **fields)

    class Arguments(base):  # type: ignore[misc, valid-type]
        @classmethod
        def model_json_schema(cls, *_args: Any, **_options: Any) -> dict[str, Any]:
            return dict(lowered.schema)

    Arguments.__name__ = base.__name__
    return Arguments
