"""Tests of the checker itself: what it has to find, on descriptions that are wrong on purpose."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import described
from bare import bare
from graphql_schema import GraphqlSchema
from judge import Description
from shapes import Checker

API = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example.com/v1"}],
    "paths": {
        "/widgets/{id}": {
            "get": {"parameters": [
                {"name": "fields", "in": "query", "required": True, "schema": {"type": "string", "enum": ["all", "few"]}},
                {"name": "old", "in": "query", "deprecated": True, "schema": {"type": "string"}},
                {"name": "X-Version", "in": "header", "required": True, "schema": {"type": "string"}},
            ]},
            "delete": {"deprecated": True},
        },
        "/widgets/mine": {"get": {}},
        "/widgets": {"post": {"requestBody": {"required": True, "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Widget"}},
            "application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/Widget"}},
        }}}},
    },
    "components": {"schemas": {
        "Widget": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", "properties": {
            "size": {"type": "integer", "maximum": 9}, "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Widget"}},
            "made": {"type": "string", "readOnly": True},
            "look": {"oneOf": [{"type": "object", "required": ["color"], "properties": {"color": {"type": "string"}}},
                               {"type": "object", "required": ["image"], "properties": {"image": {"type": "string"}}}]},
        }}]},
        "Base": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 5}}},
    }},
}
JSON = [("Content-Type", "application/json")]


def request(method, path, headers=(), body=""):
    body = body if isinstance(body, str) else json.dumps(body)
    return {"method": method, "url": f"https://api.example.com{path}", "headers": list(headers), "body": body}


class Judge(unittest.TestCase):
    def setUp(self):
        self.api = Description([described.of(API)])

    def said(self, *of):
        return self.api.judge(request(*of))

    def test_what_the_description_says_is_clean(self):
        version = [("x-version", "1")]
        self.assertEqual(self.said("GET", "/v1/widgets/7?fields=all", version), [])
        self.assertEqual(self.said("GET", "/v1/widgets/mine"), [])
        whole = {"name": "a", "size": 3, "parts": [{"name": "b"}], "look": {"color": "red"}}
        self.assertEqual(self.said("POST", "/v1/widgets", JSON, whole), [])
        form = [("content-type", "application/x-www-form-urlencoded")]
        self.assertEqual(self.said("POST", "/v1/widgets", form, "name=a&size=3&look[image]=b&parts[0][name]=c"), [])
        self.assertEqual(self.said("POST", "/v1/widgets", JSON, {"name": "[slot key]"}), [])

    def test_everything_else_is_told(self):
        version = [("x-version", "1")]
        for sent, told in [
            (("PUT", "/v1/widgets/7"), "PUT /v1/widgets/7: described with DELETE, GET only"),
            (("DELETE", "/v1/widgets/7"), "DELETE /widgets/{id} is deprecated"),
            (("GET", "/v1/widgets/7", version), "required query parameter fields is missing"),
            (("GET", "/v1/widgets/7?fields=all"), "required header X-Version is missing"),
            (("GET", "/v1/widgets/7?fields=none", version), "query fields is 'none', not one of ['all', 'few']"),
            (("GET", "/v1/widgets/7?fields=all&more=1", version), "query parameter more is not described"),
            (("GET", "/v1/widgets/7?fields=all&old=1", version), "query parameter old is deprecated"),
            (("GET", "/v1/widgets/mine", (), {"a": 1}), "GET /widgets/mine takes no body"),
            (("POST", "/v1/widgets"), "the required body is missing"),
            (("POST", "/v1/widgets", [("content-type", "text/plain")], "name=a"), "content type text/plain"),
            (("POST", "/v1/widgets", JSON, {"size": 1}), "required property name is missing"),
            (("POST", "/v1/widgets", JSON, {"name": "a", "size": "1"}), "size is string, described as integer"),
            (("POST", "/v1/widgets", JSON, {"name": "a", "size": 10}), "size is 10, out of bounds"),
            (("POST", "/v1/widgets", JSON, {"name": "abcdef"}), "at most 5"),
            (("POST", "/v1/widgets", JSON, {"name": "a", "colour": 1}), "property colour is not described"),
            (("POST", "/v1/widgets", JSON, {"name": "a", "made": "b"}), "property made is read-only"),
            (("POST", "/v1/widgets", JSON, {"name": "a", "parts": [{}]}), "required property parts[0].name is missing"),
            (("POST", "/v1/widgets", JSON, {"name": "a", "look": {}}), "required property look.color is missing"),
            (("POST", "/v1/widgets", JSON, {"name": None}), "name is null"),
        ]:
            wrong = self.said(*sent)
            self.assertTrue(any(told in what for what in wrong), f"{told}: {wrong}")
        self.assertIsNone(self.said("GET", "/v1/gadgets"))

    def test_discovery_documents(self):
        api = Description([described.of({
            "kind": "discovery#restDescription", "servicePath": "v1/", "parameters": {"alt": {"type": "string", "location": "query"}},
            "schemas": {"Event": {"type": "object", "properties": {"id": {"type": "string"}}}},
            "resources": {"events": {"methods": {"insert": {
                "path": "{+parent}/events", "httpMethod": "POST", "request": {"$ref": "Event"},
                "parameters": {"parent": {"location": "path", "required": True, "type": "string"}}}}}},
        })])
        sent = lambda body: api.judge(request("POST", "/v1/users/7/events?alt=json", JSON, body))
        self.assertEqual(sent({"id": "a"}), [])
        self.assertEqual(sent({"name": "a"}), ["property name is not described"])

    def test_a_recursive_schema_ends(self):
        node = {"type": "object", "properties": {}}
        node["properties"]["child"] = {"$ref": "node"}
        checker = Checker(lambda ref: node)
        self.assertEqual(checker.check({"child": {"child": {}}}, node), [])
        self.assertEqual(checker.check({"child": {"a": 1}}, node), ["property child.a is not described"])

    def test_bare_objects(self):
        of = lambda property, required: [place for place, need in bare(
            {"type": "object", "required": ["a"] if required else [], "properties": {"a": property}}, []) if need]
        self.assertEqual(of({"type": "object"}, True), [["a"]])
        self.assertEqual(of({"type": "object", "additionalProperties": True}, True), [["a"]])
        self.assertEqual(of({"type": "array", "items": {"type": "object"}}, True), [["a", "[]"]])
        self.assertEqual(of({"type": "object"}, False), [])
        self.assertEqual(of({"type": "object", "additionalProperties": {"type": "string"}}, True), [])
        self.assertEqual(of({"type": "object", "properties": {"b": {"type": "string"}}}, True), [])

    def test_graphql(self):
        schema = GraphqlSchema("https://api.example.com/graphql", [
            "type Query { widget(id: ID!, size: Size): Widget } type Widget { name: String } enum Size { SMALL LARGE }"])
        query = "query($id: ID!, $size: Size) { widget(id: $id, size: $size) { name } }"
        ask = lambda query, variables: schema.judge(
            request("POST", "/graphql", JSON, {"query": query, "variables": variables}))
        self.assertEqual(ask(query, {"id": "1", "size": "SMALL"}), [])
        self.assertEqual(len(ask(query, {"id": "1", "size": "HUGE"})), 1)
        self.assertEqual(len(ask(query, {"size": "SMALL"})), 1)
        self.assertEqual(ask(query, {"id": "1", "color": "red"}), ["variable color is not declared"])
        self.assertEqual(len(ask(query.replace("name", "price"), {"id": "1"})), 1)
        self.assertEqual(len(ask("query {", {})), 1)
        self.assertEqual(len(ask("", {})), 1)
        self.assertIsNone(schema.judge(request("POST", "/v1/widgets", JSON, {})))


if __name__ == "__main__":
    unittest.main()
