"""The client against the document: no operation and no value of one may be missing."""

import asyncio
import importlib
import inspect
import json
import os
import pathlib
import re
import unittest

import httpx
import toolgate
from toolgate import _async, _core, _routes
from toolgate._async import client as async_client
from toolgate._sync import client as sync_client

DOCUMENT = json.loads(pathlib.Path(os.environ["TOOLGATE_DOCUMENT"]).read_text())
RESOURCES = (
    "connections",
    "knowledge",
    "permissions",
    "records",
    "scripts",
    "sessions",
    "skills",
    "tools",
    "toolsets",
    "triggers",
)
SYNC = tuple(importlib.import_module(f"toolgate._sync.{name}") for name in RESOURCES)
ASYNC = tuple(importlib.import_module(f"toolgate._async.{name}") for name in RESOURCES)
# Files go by the language's HTTP library.
BYTES = {"upload_file", "download_file"}
# A method's call of its operation.
OPERATION = re.compile(r'_(?:call|answer|pager)\(\s*"(\w+)"')


def methods(*modules):
    """Every method that makes an operation: the operation, the method."""
    for module in modules:
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ != module.__name__:
                continue
            for _, method in inspect.getmembers(kind, inspect.isfunction):
                for operation in OPERATION.findall(inspect.getsource(method)):
                    yield operation, method


class Face(unittest.TestCase):
    def test_every_operation_of_the_document_has_a_method(self):
        documented = {
            operation["operationId"]
            for path, operations in DOCUMENT["paths"].items()
            for operation in operations.values()
            if path.startswith("/v1/") and "operationId" in operation
        }
        for modules in ((sync_client, *SYNC), (async_client, *ASYNC)):
            offered = {operation for operation, _ in methods(*modules)}
            self.assertEqual(documented - BYTES, offered)

    def test_every_value_of_an_operation_is_an_argument(self):
        seen = 0
        for operation, method in methods(*SYNC, *ASYNC):
            route = _routes.ROUTES[operation]
            expected = set(re.findall(r"\{(\w+)\}", route.path)) | set(route.query) | set(route.body)
            expected |= {_core.HEADERS[header] for header in route.header}
            if operation == "execute_tool":
                method = toolgate._sync.tools.Tools.execute
            if method.__name__ == "text":
                continue
            self.assertEqual(expected, set(inspect.signature(method).parameters) - {"self"}, operation)
            seen += 1
        self.assertGreater(seen, 60)

    def test_both_clients_offer_the_same(self):
        def offered(modules):
            return {
                (name.removeprefix("Async"), method)
                for module in modules
                for name, kind in inspect.getmembers(module, inspect.isclass)
                if kind.__module__ == module.__name__
                for method in vars(kind)
            }

        self.assertEqual(offered(SYNC), offered(ASYNC))
        self.assertTrue(_async.__doc__)


class Keys(unittest.TestCase):
    KEY = "tg_live_" + "k" * 43

    def test_a_key_is_in_no_text_of_the_client(self):
        client = toolgate.Toolgate(self.KEY, "http://127.0.0.1:1")
        for text in (repr(client), str(client), repr(vars(client)), repr(client._settings), repr(client.tools)):
            self.assertNotIn(self.KEY, text)

    def test_a_key_is_in_no_text_of_a_request(self):
        client = toolgate.Toolgate(self.KEY, "http://127.0.0.1:1")
        made = _core.request(client._settings, "get_execution", {"execution_id": "exe_1"})
        self.assertIn(self.KEY, made.headers["Authorization"])
        self.assertNotIn(self.KEY, repr(made) + str(made))

    def test_a_key_that_cannot_be_sent_is_refused_by_an_error_without_it(self):
        for bad in (self.KEY + "\n", self.KEY + "\r\nX: y", "tg_live_ \u00e4", " " + self.KEY):
            with self.assertRaises(ValueError) as caught:
                toolgate.Toolgate(bad, "http://127.0.0.1:1")
            self.assertNotIn("tg_live", str(caught.exception))
        with self.assertRaises(ValueError):
            os.environ.pop("TOOLGATE_API_KEY", None)
            toolgate.Toolgate(base_url="http://127.0.0.1:1")

    def test_an_address_with_more_than_an_origin_and_a_path_is_refused(self):
        for bad in ("ftp://a", "http://", "http://user:pass@a", "http://a?b=c", "http://a#b", "a:80"):
            with self.assertRaises(ValueError):
                toolgate.Toolgate(self.KEY, bad)

    def test_a_value_cannot_leave_its_segment_of_the_path(self):
        client = toolgate.Toolgate(self.KEY, "http://127.0.0.1:1/base/")
        made = _core.request(client._settings, "get_execution", {"execution_id": "../a/b?c#d%2e"})
        self.assertEqual(made.url, "http://127.0.0.1:1/base/v1/executions/..%2Fa%2Fb%3Fc%23d%252e")
        for bad in ("", ".", ".."):
            with self.assertRaises(ValueError):
                _core.request(client._settings, "get_execution", {"execution_id": bad})


class Errors(unittest.TestCase):
    def test_the_text_says_what_is_wrong_with_the_arguments(self):
        violations = [{"path": "/text", "message": "is required"}, {"path": "", "message": "has an unknown key"}]
        refused = toolgate.InvalidRequest("the arguments do not fit", code="c", request_id="req_1", details={"violations": violations})
        self.assertEqual(str(refused), "c: the arguments do not fit (/text: is required; /: has an unknown key) (req_1)")

    def test_many_violations_are_counted(self):
        violations = [{"path": f"/{n}", "message": "is wrong"} for n in range(8)]
        self.assertIn("/4: is wrong; and 3 more)", str(toolgate.InvalidRequest("no", details={"violations": violations})))

    def test_details_of_another_shape_are_left_out(self):
        for details in ({"violations": "x"}, {"violations": [1]}, {"violations": []}, {}):
            self.assertEqual(str(toolgate.InvalidRequest("no", code="c", details=details)), "c: no")


class Links(unittest.TestCase):
    COMMON = {"execution_id": "exe_1", "tool_name": "a_b", "service": "a", "session_id": "s", "duration_ms": 1}

    def client(self, requests):
        """A client of a server whose user has one connection to renew. Adds path and body of each request to `requests`."""
        connection = {"connection_id": "con_1", "user_id": "ada", "service": "a", "state": "reauth_needed", "state_since": "t", "scopes": []}
        data = {
            "/v1/tools/a_b/schema": {"name": "a_b", "auth": {"type": "oauth2", "scopes": ["repo"]}},
            "/v1/connections": {"connections": [connection, {**connection, "connection_id": "con_0", "state": "revoked"}]},
            "/v1/connections/link": {"connect_url": "https://gate/connect/bound", "connection_id": "con_1", "expires_at": "t"},
        }

        def answer(request):
            requests.append((request.url.path, json.loads(request.content or b"null")))
            return httpx.Response(200, json={"success": True, "data": data[request.url.path], "meta": {"request_id": "r"}})

        transport = httpx.Client(transport=httpx.MockTransport(answer))
        return toolgate.Toolgate(Keys.KEY, "http://127.0.0.1:1", http_client=transport, sleep=lambda seconds: None)

    def outcome(self):
        call = toolgate.outcomes.ExecuteCall("a_b", user_id="ada")
        data = {**self.COMMON, "status": "auth_expired", "auth_type": "oauth2", "message": "m", "connect_url": "https://gate/connect/any"}
        return toolgate.outcomes.outcome(data, "req_1", call)

    def test_a_bound_link_renews_what_the_call_had_and_is_the_one_that_is_shown(self):
        requests, shown = [], []
        with self.client(requests) as client, self.assertRaises(toolgate.WaitTimeout):
            client.wait_for_connection(
                self.outcome(), confirm_url="https://app.example.com/connected", show=shown.append, timeout=0
            )
        self.assertEqual(shown, ["https://gate/connect/bound"])
        body = dict(requests)["/v1/connections/link"]
        self.assertEqual(body, {
            "service": "a", "user_id": "ada", "scopes": ["repo"], "connection_id": "con_1",
            "confirm_url": "https://app.example.com/connected",
        })

    def test_without_a_page_of_the_application_the_servers_link_is_shown(self):
        requests, shown = [], []
        with self.client(requests) as client, self.assertRaises(toolgate.WaitTimeout):
            client.wait_for_connection(self.outcome(), confirm_url=None, show=shown.append, timeout=0)
        self.assertEqual(shown, ["https://gate/connect/any"])
        self.assertNotIn("/v1/connections/link", dict(requests))

    def test_a_call_that_does_not_choose_how_the_user_is_confirmed_is_refused(self):
        requests = []
        with self.client(requests) as client:
            for call in (lambda: client.wait_for_connection(self.outcome()), lambda: client.connect("a")):
                with self.assertRaisesRegex(TypeError, "confirm_url"):
                    call()
        self.assertEqual(requests, [])


class Outcomes(unittest.TestCase):
    COMMON = {"execution_id": "exe_1", "tool_name": "a_b", "service": "a", "session_id": "s", "duration_ms": 1}

    def test_only_a_success_has_a_result(self):
        kinds = [toolgate.ProviderError, toolgate.AuthRequired, toolgate.ApprovalRequired, toolgate.DryRun]
        self.assertTrue(all("result" not in kind.__dataclass_fields__ for kind in kinds))
        self.assertIn("result", toolgate.Success.__dataclass_fields__)

    def test_an_outcome_of_a_newer_server_is_an_error_not_a_success(self):
        call = toolgate.outcomes.ExecuteCall("a_b")
        for data in ({**self.COMMON, "status": "new"}, {**self.COMMON, "status": "success"}, {"status": "dry_run"}, [], None):
            with self.assertRaises(toolgate.InvalidResponse):
                toolgate.outcomes.outcome(data, "req_1", call)


class Toolsets(unittest.TestCase):
    def test_a_toolset_of_no_tools_runs_none_and_sends_nothing(self):
        urls = []

        def answer(request):
            urls.append(request.url)
            return httpx.Response(500)

        arguments = {"tool_name": "github_delete_repository", "arguments": "{}"}
        http_client = httpx.Client(transport=httpx.MockTransport(answer))
        toolset = toolgate.Toolgate(Keys.KEY, "http://a.test", http_client=http_client).toolset("openai", [])
        self.assertEqual(toolset.definitions, [])
        self.assertEqual(toolset.call("execute_tool", arguments)["code"], "tool_not_found")

        async def with_asyncio():
            http_client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
            toolset = await toolgate.AsyncToolgate(Keys.KEY, "http://a.test", http_client=http_client).toolset("openai", [])
            self.assertEqual((await toolset.call("execute_tool", arguments))["code"], "tool_not_found")

        asyncio.run(with_asyncio())
        self.assertEqual(urls, [])


    def test_a_format_that_is_none_and_a_text_in_place_of_a_list_are_refused_before_anything_is_sent(self):
        urls = []

        def answer(request):
            urls.append(request.url)
            return httpx.Response(500)

        client = toolgate.Toolgate(Keys.KEY, "http://a.test", http_client=httpx.Client(transport=httpx.MockTransport(answer)))
        for format in ("openia", "", None, ["openai"]):
            with self.assertRaisesRegex(ValueError, "openai, openai_responses, anthropic, gemini"):
                client.toolset(format)
        with self.assertRaisesRegex(TypeError, "list"):
            client.toolset("openai", "github_get_repository")

        async def with_asyncio():
            http_client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
            client = toolgate.AsyncToolgate(Keys.KEY, "http://a.test", http_client=http_client)
            with self.assertRaisesRegex(ValueError, "openai, openai_responses, anthropic, gemini"):
                await client.toolset("openia", ["a_b"])
            with self.assertRaisesRegex(TypeError, "list"):
                await client.toolset("openai", "a_b")

        asyncio.run(with_asyncio())
        self.assertEqual(urls, [])


class Answers(unittest.TestCase):
    def test_what_is_not_the_apis_answer_is_an_error(self):
        for body in (b"", b"null", b"[]", b"{}", b'{"success":true}', b'{"success":true,"data":1}', b"\xff", b"[" * 100_000,
                     b'{"success":false,"error":"x","meta":{"request_id":"r"}}'):
            with self.assertRaises(toolgate.InvalidResponse):
                _core.answer(200, {}, body)

    def test_a_text_is_an_answer_where_the_operation_has_one(self):
        plain = {"content-type": "text/plain; charset=utf-8", "x-request-id": "req_1"}
        answer = _core.answer(200, plain, b"declare const args: unknown;", True)
        self.assertEqual((answer.data, answer.request_id), ("declare const args: unknown;", "req_1"))
        for headers, is_text in ((plain, False), ({"content-type": "text/html"}, True)):
            with self.assertRaises(toolgate.InvalidResponse):
                _core.answer(200, headers, b"declare const args: unknown;", is_text)

    def test_an_error_has_all_fields_of_the_answer(self):
        body = b'{"success":false,"error":{"code":"overloaded","message":"busy","hint":"Wait."},"meta":{"request_id":"req_1"}}'
        with self.assertRaises(toolgate.ServerError) as caught:
            _core.answer(503, {"retry-after": "7"}, body)
        error = caught.exception
        self.assertEqual((error.code, error.request_id, error.can_retry, error.retry_after), ("overloaded", "req_1", True, 7.0))
        self.assertEqual(str(error), "overloaded: busy Wait. (req_1)")


if __name__ == "__main__":
    unittest.main()
