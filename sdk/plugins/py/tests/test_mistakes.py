"""Mistakes of authors, each with the complete message of its error."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest

from toolgate_plugin import Arg, Context, Plugin

KEYS = (
    "service, title, version, description, homepage, categories, hosts, request_headers, response_headers, "
    "response_types, capabilities, auth, parameters, config, limits, webhook"
)
SLOT = {
    "slot": "user",
    "title": "Key",
    "type": "api_key",
    "placement": {"header": "x-key"},
    "audience": ["https://a.example"],
}


def notes(**more: Any) -> Plugin:
    head = {"service": "notes", "title": "Notes", "version": "0.1.0", "description": "Notes.", "auth": [SLOT]}
    return Plugin(**{**head, **more})


def list_notes(cx: Context, folder: str | None = None) -> None:
    """Lists notes."""


def with_tool(function: Callable[..., Any] = list_notes, **words: Any) -> Callable[[], Any]:
    return lambda: notes().tool(**{"effect": "read", **words})(function)


def no_description(cx: Context) -> None: ...


def no_context() -> None:
    """Lists notes."""


def no_type(cx: Context, folder) -> None:  # type: ignore[no-untyped-def]
    """Lists notes."""


def other_parameter(cx: Context, folder: str) -> None:
    """Lists notes.

    Args:
        folders: Only notes of these.
    """


def listNotes(cx: Context) -> None:
    """Lists notes."""


def two_types(cx: Context, folder: str | int) -> None:
    """Lists notes."""


def odd_type(cx: Context, folder: bytes) -> None:
    """Lists notes."""


def bounds(cx: Context, limit: Annotated[int, Arg(min=9, max=3)]) -> None:
    """Lists notes."""


def default_over_maximum(cx: Context, limit: Annotated[int, Arg(max=9)] = 20) -> None:
    """Lists notes."""


def default_of_wrong_type(cx: Context, limit: int = "20") -> None:  # type: ignore[assignment]
    """Lists notes."""


def default_outside_choice(cx: Context, order: Literal["newest"] = "oldest") -> None:  # type: ignore[assignment]
    """Lists notes."""


def pattern(cx: Context, folder: Annotated[str, Arg(pattern="[a-")]) -> None:
    """Lists notes."""


def needs_folder(cx: Context, folder: str) -> None:
    """Lists notes."""


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in SLOT.items() if name != key}


def twice() -> None:
    plugin = notes()
    plugin.tool(effect="read")(list_notes)
    plugin.tool(effect="read")(list_notes)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    # The plugin.
    (lambda: notes(host=[]), f"unknown key `host`; `Plugin` takes {KEYS}"),
    (lambda: Plugin(service="notes", title="Notes", version="0.1.0"), "Plugin.__init__() missing 1 required keyword-only argument: 'description'"),  # type: ignore[call-arg]
    (lambda: notes(title=""), "`title` is a text that is not empty"),
    (lambda: notes(description=7), "`description` is a text that is not empty"),
    (lambda: notes(service="My-Notes"), "`service`: `My-Notes` is not a service name; write lower-case letters, digits and `_`, a letter first"),
    (lambda: notes(version="1"), "`version`: `1` is not a semantic version; write three numbers, for example 1.0.0"),
    (lambda: notes(hosts="a.example"), "`hosts` is a list of texts"),
    (lambda: notes(categories=[1]), "`categories` is a list of texts"),
    (lambda: notes(capabilities=["wasi-http"]), "`capabilities`: `wasi-http` is not one of egress, kv"),
    (lambda: notes(limits={"memory": 1}), "`limits`: unknown key `memory`; known are timeout_ms, memory_mib, response_mib"),
    (lambda: notes(config={}), "`config` is a list of dicts"),
    # Credentials.
    (lambda: notes(auth=SLOT), "`auth` is a list of dicts"),
    (lambda: notes(auth=[without("audience")]), "`auth`[0]: `audience` is missing; a slot needs slot, title, type, placement, audience"),
    (lambda: notes(auth=[SLOT, without("title")]), "`auth`[1]: `title` is missing; a slot needs slot, title, type, placement, audience"),
    (lambda: notes(auth=[{**SLOT, "type": "key"}]), "`auth`[0]: `type` is oauth2, oauth2_client_credentials, api_key, bearer, basic, not `key`"),
    (lambda: notes(auth=[{**SLOT, "audience": "https://a.example"}]), "`auth`[0]: `audience` is a list of origins: ['https://api.example.com']"),
    (with_tool(auth=["admin"]), "list_notes: `auth` names the slot `admin`; the plugin has user"),
    # Tools.
    (with_tool(effect="reads"), "effect is read, write, destructive, not reads"),
    (with_tool(paged=True), "Plugin.tool() got an unexpected keyword argument 'paged'"),
    (with_tool(keywords="find"), "list_notes: `keywords` is a list of texts"),
    (with_tool(examples=["work"]), "list_notes: `examples` is a list of dicts of arguments: [{'folder': 'work'}]"),
    (with_tool(examples=[{"folders": "work"}]), "list_notes: an example has `folders`, which the tool does not take; it takes folder"),
    (with_tool(needs_folder, examples=[{}]), "needs_folder: an example lacks `folder`, which the tool needs"),
    (with_tool(no_description), "no_description needs a docstring: it is the description that people and models choose by"),
    (with_tool(no_context), "no_context takes the call's context as its first parameter"),
    (with_tool(other_parameter), "other_parameter: the docstring tells of folders, which it does not take"),
    (with_tool(listNotes), "a tool's name is lower-case words, not listNotes"),
    (twice, "two tools are called list_notes"),
    # Arguments.
    (with_tool(no_type), "no_type: the parameter `folder` needs a type"),
    (with_tool(two_types), "two_types: `folder`: str | int has no schema: use str, int, float, bool, list, dict[str, ...], Literal, an Enum or a dataclass"),
    (with_tool(odd_type), "odd_type: `folder`: <class 'bytes'> has no schema: use str, int, float, bool, list, dict[str, ...], Literal, an Enum or a dataclass"),
    (with_tool(bounds), "bounds: `limit`: minimum 9 is more than maximum 3: no value fits"),
    (with_tool(default_over_maximum), "default_over_maximum: `limit`: the default 20 is refused by the parameter's own schema"),
    (with_tool(default_of_wrong_type), "default_of_wrong_type: `limit`: the default '20' is refused by the parameter's own schema"),
    (with_tool(default_outside_choice), "default_outside_choice: `order`: the default 'oldest' is refused by the parameter's own schema"),
    (with_tool(pattern), "pattern: `folder`: `pattern`: unterminated character set at position 0"),
]


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 30


@pytest.mark.parametrize(("make", "message"), MISTAKES, ids=[message[:60] for _, message in MISTAKES])
def test_a_mistake_is_reported(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        make()


def test_a_declaration_without_a_mistake_is_accepted() -> None:
    plugin = notes()
    plugin.tool(effect="read", auth=["user"], examples=[{"folder": "work"}])(list_notes)
    assert [tool["name"] for tool in plugin.manifest["tools"]] == ["list_notes"]
