"""Conversion of schemas: the cases that all clients share, and the rules of each provider for the schemas that ship."""

import json
import os
import pathlib
import re
import unittest

from toolgate import dialects

TABLE = json.loads(pathlib.Path(os.environ["TOOLGATE_DIALECTS"]).read_text())
CATALOG = json.loads(pathlib.Path(os.environ["TOOLGATE_CATALOG"]).read_text())
DIALECTS = ("openai", "anthropic", "gemini")
GEMINI = set(
    "type format title description nullable enum items properties required anyOf minItems maxItems minimum maximum "
    "minLength maxLength pattern".split()
)


def problems(schema, dialect, at=""):
    """What a provider would refuse."""
    if not isinstance(schema, dict):
        yield f"{at}: no object"
        return
    top = at == ""
    if top and schema.get("type") != "object":
        yield "the top is not an object"
    for word in ("$ref", "$defs", "allOf", *(("oneOf", "anyOf", "enum", "not") if top else ())):
        if word in schema:
            yield f"{at}: has {word}"
    if dialect != "anthropic" and ("default" in schema or "const" in schema):
        yield f"{at}: has default or const"
    kinds = schema.get("type")
    if "properties" in schema and "object" not in (kinds if isinstance(kinds, list) else [kinds]):
        yield f"{at}: properties without an object"
    if dialect == "gemini":
        yield from (f"{at}: has {word}" for word in set(schema) - GEMINI)
        kind = schema.get("type")
        if not isinstance(kind, str) and "anyOf" not in schema:
            yield f"{at}: has the type {kind}"
        if kind == "object" and not schema.get("properties") and not top:
            yield f"{at}: an object without properties"
        if kind == "array" and "items" not in schema:
            yield f"{at}: an array without items"
        if "enum" in schema and not all(isinstance(value, str) for value in schema["enum"]):
            yield f"{at}: an enum of no texts"
    for key, value in schema.get("properties", {}).items():
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", key):
            yield f"{at}: the name {key}"
        yield from problems(value, dialect, f"{at}/{key}")
    for key in schema.get("required", []):
        if key not in schema.get("properties", {}):
            yield f"{at}: requires {key}"
    if "items" in schema:
        yield from problems(schema["items"], dialect, f"{at}/items")
    for branch in schema.get("anyOf", []) + schema.get("oneOf", []):
        yield from problems(branch, dialect, f"{at}/|")


class Dialects(unittest.TestCase):
    def test_the_table_that_all_clients_share(self):
        for row in TABLE:
            for dialect in DIALECTS:
                with self.subTest(row["name"], dialect=dialect):
                    lowered = dialects.lower(row["schema"], dialect)
                    self.assertEqual(row[dialect], lowered.schema)
                    self.assertEqual([], list(problems(lowered.schema, dialect)))
                    if dialect in row.get("arguments", {}):
                        self.assertEqual(row["restored"][dialect], lowered.restore(row["arguments"][dialect]))

    def test_every_schema_that_ships(self):
        self.assertGreater(len(CATALOG), 2_000)
        for dialect in DIALECTS:
            found = [
                f"{tool['name']}{problem}"
                for tool in CATALOG
                for problem in problems(dialects.lower(tool["inputSchema"], dialect).schema, dialect)
            ]
            self.assertEqual([], found)

    def test_every_name_that_ships_is_kept_and_others_are_made_to_fit(self):
        for tool in CATALOG:
            self.assertEqual(tool["name"], dialects.name(tool["name"]))
        made = [dialects.name(text) for text in ("a" * 80, "a" * 79 + "b", "a.b", "a b", "7zip", "ü")]
        self.assertEqual(len(made), len(set(made)))
        for text in made:
            self.assertRegex(text, r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")

    def test_a_schema_that_grows_without_end_is_bounded(self):
        row = {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in range(8)}
        endless = {"type": "object", "properties": row, "$defs": {f"d{n}": {"type": "object", "properties": row} for n in range(8)}}
        deep = {}
        for _ in range(400):
            deep = {"type": "object", "properties": {"a": deep}}
        for dialect in DIALECTS:
            for schema in (endless, deep):
                self.assertEqual([], list(problems(dialects.lower(schema, dialect).schema, dialect)))
        for invalid in ({"$ref": 7}, {"allOf": 1}, {"properties": []}, {"type": 7}, {"$ref": "#/nowhere"}, {"$ref": "http://a"}):
            self.assertEqual("object", dialects.lower(invalid, "gemini").schema["type"])


if __name__ == "__main__":
    unittest.main()
