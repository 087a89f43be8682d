"""Tools as a model's provider takes them. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from .. import dialects, formats, frameworks
from ..dialects import Lowered
from ..errors import ToolgateError
from ..formats import Call, Format, ModelResult
from ..outcomes import AuthRequired, Outcome
from .tools import Tools

OnOutcome: TypeAlias = Callable[[Call, Outcome], object]
# A tool, and the result of a call, as the provider's package types them.
Definition = TypeVar("Definition")
Result = TypeVar("Result")


class ToolsetClient(Protocol):
    """What a toolset needs of the client."""

    @property
    def tools(self) -> Tools: ...

    def _bound_link(self, outcome: AuthRequired, confirm_url: str) -> str: ...


class Toolset(Generic[Definition, Result]):
    """The three generic operations, or chosen tools, in a provider's format; made by `client.toolset`.

    `definitions` is the value of `tools` in the provider's request. `run` takes the model's answer and
    gives back the results of the calls in it for the next request, in their order. Of a file a model gets
    name, type and size; `on_outcome` gets every complete outcome, with the content of its files.
    """

    def __init__(
        self,
        client: ToolsetClient,
        format: Format,
        user_id: str | None,
        session_id: str | None,
        on_outcome: OnOutcome | None,
        confirm_url: str | None,
    ) -> None:
        self._client = client
        self._format = format
        self._user_id = user_id
        self._session_id = session_id
        self._on_outcome = on_outcome
        self._confirm_url = confirm_url
        # Whether tools were chosen, possibly none: then no other tool is run.
        self._is_chosen = False
        self._tools: dict[str, tuple[str, Lowered]] = {}
        self._tool_definitions: list[tuple[str, str, Lowered]] = []

    def _load(self, tools: list[str] | None) -> Toolset[Definition, Result]:
        dialect = formats.dialect_of(self._format)
        # Each letter of a text would be taken for a tool.
        if isinstance(tools, str):
            raise TypeError("tools must be a list of names, not one text")
        if tools is None:
            for name, description, schema in formats.GENERIC:
                self._tool_definitions.append((name, description, dialects.lower(schema, dialect)))
            return self
        self._is_chosen = True
        for tool_name in tools:
            described = self._client.tools.schema(tool_name, user_id=self._user_id)
            assert described is not None, "the request has no entity tag"
            name, lowered = dialects.name(tool_name), dialects.lower(described["inputSchema"], dialect)
            self._tools[name] = (tool_name, lowered)
            self._tool_definitions.append((name, described["description"], lowered))
        return self

    @property
    def definitions(self) -> list[Definition]:
        """The value of `tools` in the provider's request."""
        tools = [
            formats.definition(self._format, name, description, lowered.schema)
            for name, description, lowered in self._tool_definitions
        ]
        return cast("list[Definition]", formats.definitions(self._format, tools))

    def run(self, answer: object) -> list[Result]:
        """Makes every call in a model's answer; a failed one becomes a result for the model and is not raised."""
        results = [
            formats.result(self._format, call, self._model_result(call))
            for call in formats.calls(self._format, answer)
        ]
        return cast("list[Result]", results)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Makes one call by its name in the definitions, and answers the result for the model."""
        return (self._model_result(Call("", name, arguments))).content

    def langchain(self) -> list[Any]:
        """The same as tools of LangChain; needs `langchain-core`."""
        from langchain_core.tools import StructuredTool

        return [self._structured(StructuredTool, *definition) for definition in self._tool_definitions]

    def openai_agents(self) -> list[Any]:
        """The same as tools of the OpenAI Agents SDK; needs `openai-agents`."""
        return frameworks.openai_agents(self._tool_definitions, self.call)

    def pydantic_ai(self) -> list[Any]:
        """The same as tools of Pydantic AI; needs `pydantic-ai-slim`."""
        return frameworks.pydantic_ai(self._tool_definitions, self.call)

    def llama_index(self) -> list[Any]:
        """The same as tools of LlamaIndex; needs `llama-index-core`."""
        return frameworks.llama_index(self._tool_definitions, self.call)

    def crewai(self) -> list[Any]:
        """The same as tools of CrewAI; needs `crewai`, which runs them without asyncio."""
        return frameworks.crewai(self._tool_definitions, self.call)

    def _structured(self, kind: Any, name: str, description: str, lowered: Lowered) -> Any:
        def run(**arguments: Any) -> dict[str, Any]:
            return self.call(name, arguments)

        return kind.from_function(func=run, name=name, description=description, args_schema=lowered.schema)

    def _model_result(self, call: Call) -> ModelResult:
        if call.malformed:
            return _unusable("invalid_json", "the arguments are not one JSON object")
        try:
            return self._chosen(call) if self._is_chosen else self._generic(call)
        except ToolgateError as error:
            return formats.error_to_model_result(error)

    def _chosen(self, call: Call) -> ModelResult:
        found = self._tools.get(call.name)
        if found is None:
            return _unusable("tool_not_found", f"there is no tool {call.name}")
        tool_name, lowered = found
        return self._execute(call, tool_name, lowered.restore(call.arguments))

    def _generic(self, call: Call) -> ModelResult:
        given = call.arguments
        if call.name == "search_tools":
            service, limit = given.get("service") or None, given.get("limit")
            found = self._client.tools.search(
                str(given.get("query", "")), service=service, limit=limit, user_id=self._user_id
            )
            return ModelResult(dict(found))
        tool_name = given.get("tool_name")
        if not isinstance(tool_name, str) or not tool_name.strip("."):
            return _unusable("invalid_arguments", "tool_name must name a tool")
        if call.name == "get_tool_schema":
            return ModelResult(dict(self._client.tools.schema(tool_name, user_id=self._user_id) or {}))
        if call.name == "execute_tool":
            return self._execute(call, tool_name, given.get("arguments") or {})
        return _unusable("tool_not_found", f"there is no tool {call.name}")

    def _execute(self, call: Call, tool_name: str, arguments: dict[str, Any] | str) -> ModelResult:
        outcome = self._client.tools.execute(
            tool_name, arguments, user_id=self._user_id, session_id=self._session_id
        )
        if self._confirm_url and isinstance(outcome, AuthRequired) and outcome.connect_url:
            bound = self._client._bound_link(outcome, self._confirm_url)
            outcome = dataclasses.replace(outcome, connect_url=bound)
        if self._on_outcome:
            self._on_outcome(call, outcome)
        return formats.to_model_result(outcome)


def _unusable(code: str, message: str) -> ModelResult:
    return ModelResult({"status": "error", "code": code, "message": message, "can_retry": False}, is_error=True)
