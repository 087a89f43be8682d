"""How each model's provider writes tools, calls of them, and their results. Pure; see `Toolset`.

Calls are read from dicts and from the providers' own objects alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .dialects import Dialect, Schema
from .errors import ToolgateError
from .outcomes import ApprovalRequired, AuthRequired, DryRun, Outcome, ProviderError, Success

Format: TypeAlias = Literal["openai", "openai_responses", "anthropic", "gemini"]
DIALECT_OF: dict[str, Dialect] = {
    "openai": "openai",
    "openai_responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


def dialect_of(format: object) -> Dialect:
    """The dialect of a format's schemas.

    Raises:
        ValueError: There is no such format.
    """
    if isinstance(format, str) and format in DIALECT_OF:
        return DIALECT_OF[format]
    raise ValueError(f"unknown format {format!r}: use one of {', '.join(DIALECT_OF)}")


# The three operations with which a model finds and runs any tool.
GENERIC: list[tuple[str, str, Schema]] = [
    (
        "search_tools",
        "Finds tools of third-party services by keywords or by a sentence that says what is to be done. "
        "Begin here.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Keywords or natural language."},
                "service": {"type": "string", "description": "Only tools of this service, in lower case."},
                "limit": {"type": "integer", "description": "How many tools to answer.", "minimum": 1, "maximum": 100},
            },
            "required": ["query"],
        },
    ),
    (
        "get_tool_schema",
        "Describes one tool: what it does and the JSON Schema of its arguments.",
        {
            "type": "object",
            "properties": {"tool_name": {"type": "string", "description": "Exact name, as search_tools says it."}},
            "required": ["tool_name"],
        },
    ),
    (
        "execute_tool",
        "Runs one tool for the user and answers its result, or what the user has to do first.",
        {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string", "description": "Exact name, as search_tools says it."},
                "arguments": {
                    "type": "string",
                    "description": "The tool's arguments, one JSON object as text; '{}' for none.",
                },
            },
            "required": ["tool_name", "arguments"],
        },
    ),
]


@dataclass(frozen=True)
class Call:
    """A call that a model made. `id` is the provider's, empty where it has none."""

    id: str
    name: str
    arguments: dict[str, Any]
    # Whether the arguments could not be parsed; the model then gets an error.
    malformed: bool = False


@dataclass(frozen=True)
class ModelResult:
    """The result of a call for the model: JSON, and whether the call failed."""

    content: dict[str, Any]
    is_error: bool = False

    def text(self) -> str:
        return json.dumps(self.content, ensure_ascii=False)


def definition(format: Format, name: str, description: str, schema: Schema) -> dict[str, Any]:
    """One tool in the provider's format; Gemini's is one entry of `functionDeclarations`."""
    if format == "openai":
        return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
    if format == "openai_responses":
        return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": False}
    if format == "anthropic":
        return {"name": name, "description": description, "input_schema": schema}
    declared = {"name": name, "description": description}
    # Gemini takes no object without properties.
    return {**declared, "parameters": schema} if schema["properties"] else declared


def definitions(format: Format, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The value of `tools` in the provider's request."""
    return [{"functionDeclarations": tools}] if format == "gemini" and tools else tools


def calls(format: Format, answer: Any) -> list[Call]:
    """The calls in a model's answer: OpenAI's message or its `tool_calls`, the `output` of a response,
    Anthropic's message or its `content`, Gemini's content or its `parts`."""
    found = []
    for item in _items(format, answer):
        if format == "openai":
            function = _get(item, "function")
            found.append(_call(_get(item, "id"), _get(function, "name"), _get(function, "arguments")))
        elif format == "openai_responses" and _get(item, "type") == "function_call":
            found.append(_call(_get(item, "call_id"), _get(item, "name"), _get(item, "arguments")))
        elif format == "anthropic" and _get(item, "type") == "tool_use":
            found.append(_call(_get(item, "id"), _get(item, "name"), _get(item, "input")))
        elif format == "gemini":
            call = _get(item, "functionCall") or _get(item, "function_call")
            if call:
                found.append(_call(_get(call, "id"), _get(call, "name"), _get(call, "args")))
    return found


def result(format: Format, call: Call, model_result: ModelResult) -> dict[str, Any]:
    """The result of a call in the provider's format, for the next request."""
    if format == "openai":
        return {"role": "tool", "tool_call_id": call.id, "content": model_result.text()}
    if format == "openai_responses":
        return {"type": "function_call_output", "call_id": call.id, "output": model_result.text()}
    if format == "anthropic":
        block = {"type": "tool_result", "tool_use_id": call.id, "content": model_result.text()}
        return {**block, "is_error": True} if model_result.is_error else block
    response: dict[str, Any] = {"name": call.name, "response": model_result.content}
    return {"functionResponse": {"id": call.id, **response} if call.id else response}


def to_model_result(outcome: Outcome) -> ModelResult:
    """An outcome for the model: what happened, and the next step."""
    match outcome:
        case Success():
            content: dict[str, Any] = {"status": "success", "result": outcome.result}
            if outcome.summary:
                content["summary"] = outcome.summary
            if outcome.files:
                # A model has no use for Base64; the program gets it through `on_outcome`.
                content["files"] = [
                    {name: value for name, value in file.items() if name != "content" and value is not None}
                    for file in outcome.files
                ]
            if outcome.truncated:
                content["truncated"] = outcome.truncated
            if outcome.next_cursor:
                content["next_cursor"] = outcome.next_cursor
            return ModelResult(content)
        case ProviderError():
            return ModelResult({"status": "error", "reason": outcome.reason, **outcome.error}, is_error=True)
        case AuthRequired():
            content = {"status": "auth_expired" if outcome.expired else "auth_required", "message": outcome.message}
            if outcome.connect_url:
                content |= {
                    "connect_url": outcome.connect_url,
                    "next": "Ask the user to open connect_url, then repeat the call.",
                }
            return ModelResult(content)
        case ApprovalRequired():
            return ModelResult(
                {
                    "status": "approval_required",
                    "message": outcome.message,
                    "approval_url": outcome.approval_url,
                    "next": "A person has to approve it at approval_url; then repeat the call.",
                }
            )
        case DryRun():
            return ModelResult({"status": "dry_run", "requests": outcome.requests})


def error_to_model_result(error: ToolgateError) -> ModelResult:
    """A refused call for the model, so that it can correct the call."""
    content: dict[str, Any] = {
        "status": "error",
        "code": error.code,
        "message": error.message,
        "can_retry": error.can_retry,
    }
    if error.hint:
        content["hint"] = error.hint
    if error.details:
        content["details"] = error.details
    return ModelResult(content, is_error=True)


def _items(format: Format, answer: Any) -> list[Any]:
    if isinstance(answer, (list, tuple)):
        return list(answer)
    inner = {"openai": "tool_calls", "openai_responses": "output", "anthropic": "content", "gemini": "parts"}[format]
    return list(_get(answer, inner) or [])


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _call(id: Any, name: Any, arguments: Any) -> Call:
    malformed = False
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            malformed = True
    if arguments is None:
        arguments = {}
    if not hasattr(arguments, "keys"):
        arguments, malformed = {}, True
    return Call(str(id or ""), str(name or ""), dict(arguments), malformed)
