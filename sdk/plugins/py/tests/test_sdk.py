from __future__ import annotations

import dataclasses
import enum
import json
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import Annotated, Literal

import pytest
from toolgate_plugin import Arg, Context, Plugin, ToolError, audience, build, page, path, pick, pick_each, problem, testing

AUDIENCE = "https://a.example"


def notes(**more):
    slot = {"slot": "user", "title": "Key", "type": "api_key", "placement": {"header": "x-key"}, "audience": [AUDIENCE]}
    return Plugin(service="notes", title="Notes", version="0.1.0", description="Notes.", auth=[slot], **more)


class Kind(enum.Enum):
    OPEN = "open"
    DONE = "done"


@dataclasses.dataclass
class Place:
    """A place.

    Args:
        city: Its city.
    """

    city: str
    number: int = 1


def test_a_value_in_a_path_stays_one_segment_and_cannot_vanish():
    assert path("/books/{}/pages/{}", "a/b?c", 7) == "/books/a%2Fb%3Fc/pages/7"
    assert path("/books") == "/books"
    for value in ("", ".", "..", None):
        with pytest.raises(ToolError, match="cannot be part of an address"):
            path("/books/{}", value)
    for template, values in (("/books", (1,)), ("/books/{}", ()), ("/books/{id}", (1,))):
        with pytest.raises(TypeError, match="one value for each"):
            path(template, *values)


def test_a_function_becomes_a_tool():
    plugin = notes()

    @plugin.tool(effect="read", paginated=True, auth_optional=True)
    def get_note(
        cx: Context,
        place: Place,
        kinds: list[Kind],
        id: Annotated[int, Arg(min=1)] = 7,
        word: Literal["a", "b"] | None = None,
        more: dict[str, float] | None = None,
    ):
        """Reads
        a note.

        Args:
            place: Where.
            id: Number,
                from one.
        """

    spec = plugin.manifest["tools"][0]
    assert (spec["description"], spec["title"], spec["auth"]) == ("Reads a note.", "Get note", ["user"])
    takes = spec["input"]
    assert takes["required"] == ["place", "kinds"] and takes["additionalProperties"] is False
    assert takes["properties"]["id"] == {"description": "Number, from one.", "type": "integer", "minimum": 1, "default": 7}
    assert takes["properties"]["kinds"]["items"] == {"type": "string", "enum": ["open", "done"]}
    assert takes["properties"]["word"] == {"type": "string", "enum": ["a", "b"]}
    assert takes["properties"]["place"]["properties"]["city"] == {"description": "Its city.", "type": "string"}
    assert takes["properties"]["place"]["required"] == ["city"]
    assert "cursor" in takes["properties"]
    assert plugin.manifest["limits"] == {"memory_mib": 192}


def test_mistakes_in_a_declaration_are_named():
    plugin = notes()
    with pytest.raises(ValueError, match="lower-case"):
        plugin.tool(effect="read")(lambda cx: None)
    with pytest.raises(ValueError, match="effect is"):
        plugin.tool(effect="reads")

    def untyped(cx, a):
        """A."""

    def unknown(cx: Context):
        """A.

        Args:
            b: Not there.
        """

    def undocumented(cx: Context):
        pass

    def unsupported(cx: Context, a: complex):
        """A."""

    for function, match in ((undocumented, "needs a docstring"), (untyped, "needs a type"), (unknown, "tells of b"), (unsupported, "has no schema")):
        with pytest.raises(TypeError, match=match):
            plugin.tool(effect="read")(function)


def test_a_call_has_its_types_its_page_and_its_state():
    plugin = notes()

    @plugin.tool(effect="read", paginated=True)
    def get_note(cx: Context, place: Place, kind: Kind, ratio: float = 1.5):
        """Reads a note."""
        cx.kv_set("n", [place.number])
        return page({"city": place.city, "kind": kind, "ratio": ratio, "kept": cx.kv_get("n"), "n": cx.page_number()}, 9)

    output = testing.MockHost().call(plugin, "get_note", {"place": {"city": "Ulm"}, "kind": "done"}, "4")
    assert output.data == {"city": "Ulm", "kind": Kind.DONE, "ratio": 1.5, "kept": ([1], 1), "n": 4}
    assert output.next_cursor == "9"


def test_urllib_sends_through_the_host_with_the_slot_of_the_call():
    plugin = notes()

    @plugin.tool(effect="write")
    def send(cx: Context, url: str):
        """Sends."""
        request = urllib.request.Request(url, data=b"a=1", headers={"X-One": "1"}, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=2) as answer:
                return [answer.status, answer.read().decode(), answer.headers["x-two"]]
        except urllib.error.HTTPError as error:
            if error.code == 418:
                return "teapot"
            raise

    expected = {"method": "PUT", "url": f"{AUDIENCE}/n", "query": {"q": "1"}, "auth": "user", "body": "a=1",
                "headers": {"x-one": "1", "content-type": "application/x-www-form-urlencoded"}}  # fmt: skip

    def call(response, request=expected, url=f"{AUDIENCE}/n?q=1", **more):
        host = testing.MockHost(exchanges=[{"request": request, "response": response}], **more)
        return host.call(plugin, "send", {"url": url}).data

    assert call({"status": 201, "body": "made", "headers": {"X-Two": "2"}}) == [201, "made", "2"]
    assert call({"status": 418}) == "teapot"
    with pytest.raises(ToolError) as raised:
        call({"status": 404, "body": {"message": "gone"}})
    assert (raised.value.kind, raised.value.message, raised.value.http_status) == ("not-found", "gone", 404)
    with pytest.raises(ToolError) as raised:
        call({"failure": {"kind": "denied", "message": "not granted"}})
    assert (raised.value.kind, raised.value.code) == ("permission-denied", "egress_denied")
    with pytest.raises(AssertionError, match="auth: sent None"):
        call({}, url="https://elsewhere.example/n?q=1")
    with pytest.raises(RuntimeError, match="while a tool runs"):
        from toolgate_plugin import http

        http.opener().open(AUDIENCE)


@pytest.mark.parametrize(
    ("pattern", "url", "contained"),
    [
        ("https://a.example", "https://a.example/n?q=1", True),
        ("https://a.example", "https://A.Example:443/n", True),
        ("https://a.example/", "https://a.example", True),
        ("https://a.example", "https://a.example:8443/n", False),
        ("https://a.example", "http://a.example/n", False),
        ("https://a.example", "https://a.example.evil.test/n", False),
        ("https://a.example", "https://evil.test/https://a.example", False),
        ("https://a.example", "https://a.example:x/n", False),
        ("https://a.example", "a.example", False),
        ("https://{subdomain}.desk.test", "https://Acme.desk.test/n", True),
        ("https://{subdomain}.desk.test", "https://acme.desk.test:443/n", True),
        ("https://{subdomain}.desk.test", "https://{subdomain}.desk.test/n", True),
        ("https://{subdomain}.desk.test", "https://other.desk.test/n", False),
        ("https://{unknown}.desk.test", "https://{unknown}.desk.test/n", True),
        ("https://{unknown}.desk.test", "https://acme.desk.test/n", False),
        ("https://{odd}.desk.test", "https://evil.test/.desk.test/n", False),
        ("https://*.files.test", "https://eu.A.files.test/n", True),
        ("https://*.files.test", "https://files.test/n", False),
        ("https://*.files.test", "https://evilfiles.test/n", False),
        ("https://*.files.test", "https://a.files.test:8443/n", False),
        ("{api_base}", "https://git.example.org/api/n", True),
        ("{api_base}", "https://GIT.example.org:443/api/n", True),
        ("{api_base}", "https://git.example.com/api/n", False),
        ("{local}", "http://127.0.0.1:9090/n", True),
        ("{local}", "http://127.0.0.1:9091/n", False),
        ("{unset}", "https://git.example.org/api/n", False),
    ],
)
def test_an_audience_contains_an_address_by_the_rules_of_the_gateway(pattern, url, contained):
    config = {"subdomain": "Acme", "odd": "evil.test/", "api_base": "https://Git.example.org/api", "local": "http://127.0.0.1:9090"}
    assert audience.holds([pattern], url, config.get) is contained


def test_the_credential_goes_to_the_address_that_the_operator_set_and_to_no_other():
    setting = {"key": "api_base", "title": "Address", "schema": {"type": "string"}, "adds_host": True}
    slot = {"slot": "user", "title": "Key", "type": "api_key", "placement": {"header": "x-key"}}

    def call(audience, url, auth, config):
        plugin = Plugin(service="git", title="Git", version="0.1.0", description="Git.", config=[setting],
                        auth=[{**slot, "audience": audience}])  # fmt: skip

        @plugin.tool(effect="read")
        def get(cx: Context, url: str):
            """Reads."""
            return cx.json(url)

        exchange = {"request": {"url": url, "auth": auth}, "response": {"body": [1]}}
        assert testing.MockHost(config=config, exchanges=[exchange]).call(plugin, "get", {"url": url}).data == [1]

    own = {"api_base": "https://git.example.org"}
    call(["{api_base}"], "https://git.example.org/v4/user", "user", own)
    call(["{api_base}"], "https://elsewhere.example/v4/user", None, own)
    # An audience that does not name the setting does not contain the operator's address.
    call(["https://git.example"], "https://git.example.org/v4/user", None, own)
    call(["https://git.example"], "https://git.example.org/v4/user", None, {})
    call(["https://{subdomain}.desk.test"], "https://Acme.desk.test/n", "user", {"subdomain": "Acme"})
    call(["https://{subdomain}.desk.test"], "https://{subdomain}.desk.test/n", "user", {"subdomain": "Acme"})


CASES = json.loads((Path(__file__).parents[2] / "problems.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['status']} {case['body']}")
def test_an_error_response_means_the_same_in_every_language(case):
    headers = Message()
    for name, value in case.get("headers", {}).items():
        headers[name] = value
    error = problem(case["status"], headers, case["body"].encode())
    assert (error.kind, error.message, error.code) == (case["kind"], case["message"], case.get("code"))
    assert (error.http_status, error.retry_after_ms) == (case["status"], case.get("retry_after_ms"))


def test_fields_are_chosen_renamed_and_collected():
    issue = {"number": 7, "body": None, "user": {"login": "mona"}, "labels": [{"name": "bug"}, {"name": "ui"}]}
    fields = ["number", "body", "author=user/login", "labels=labels/*/name", "first=labels/0/name", "a/b"]
    assert pick(issue, fields) == {"number": 7, "author": "mona", "labels": ["bug", "ui"], "first": "bug"}
    assert pick_each({"message": "none"}, ["x"]) == []


def test_the_world_has_the_imports_of_the_capabilities():
    made = build.world(build.contract(), ["egress"])
    assert "    resource blob;\n}" in made and "import egress;" in made and "import kv;" not in made.partition("world authored")[2]


def test_a_section_is_appended_at_the_end_with_its_length():
    made = build.with_section(b"x", "y" * 200)
    assert made[1] == 0 and len(made) == 1 + 1 + 2 + 1 + len("toolgate:manifest") + 200
