#!/usr/bin/env python3
"""Writes what the clients and the dashboard know of the API from the OpenAPI document, or compares it.

    sdk/clients/generate.py DOCUMENT TOOLS [--check] [python] [node] [go] [dashboard]

DOCUMENT is what `toolgate openapi` prints, or the host's snapshot of it, TOOLS the folder that tests/sdk/setup.sh fills. The types
are made by datamodel-code-generator (Python) and openapi-typescript (Node, dashboard); Go has no generator that
reads OpenAPI 3.1 whole, so its structs are written here. With --check nothing is written, and a file
that differs is an error that shows how.
"""

import copy
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
METHODS = ("get", "post", "put", "patch", "delete")

# What the answers are called whose shape the document does not name.
NAMES = {
    "search_tools": "FoundTools",
    "list_tools": "ToolPage",
    "get_tool_schema": "ToolSchema",
    "execute_tool": "Execution",
    "list_approvals": "ApprovalPage",
    "list_connections": "ConnectionPage",
    "link_connection": "ConnectLink",
    "delete_connection": "DeletedConnection",
    "list_events": "EventPage",
    "list_executions": "ExecutionPage",
    "health_check": "Health",
    "get_status": "Status",
    "list_permission_services": "PermissionServices",
    "get_user_permissions": "UserPermissions",
    "explain_permission": "PermissionExplanation",
    "get_execution_payloads": "ExecutionPayloads",
    "summarise_user_permissions": "PermissionSummary",
    "get_result": "ResultPiece",
    "list_messages": "MessagePage",
    "send_message": "Message",
    "resume_session": "Message",
    "list_files": "FilePage",
    "get_file": "StoredFile",
    "delete_file": "DeletedFile",
    "read_file_text": "FileText",
    "list_triggers": "TriggerList",
    "get_trigger": "Trigger",
    "delete_trigger": "DeletedTrigger",
    "test_trigger": "TriggerTest",
    "list_documents": "DocumentPage",
    "get_document": "Document",
    "delete_document": "DeletedDocument",
    "search_knowledge": "FoundPassages",
    "list_sessions": "SessionPage",
    "delete_session": "DeletedSession",
    "run_script": "ScriptRun",
    "list_script_runs": "ScriptRunPage",
    "get_code_mode": "CodeMode",
    "list_skills": "SkillPage",
    "list_webhooks": "WebhookList",
    "get_webhook": "Webhook",
    "create_webhook": "WebhookWithSecret",
    "delete_webhook": "DeletedWebhook",
    "test_webhook": "WebhookDelivery",
    "list_webhook_deliveries": "WebhookDeliveryPage",
    "put_connection_hook": "HookWithSecret",
    "get_connection_hook": "Hook",
    "delete_connection_hook": "DeletedHook",
    "get_skill": "Skill",
    "delete_skill": "DeletedSkill",
    "check_skill": "SkillCheck",
    "list_skill_versions": "SkillVersions",
    "list_toolsets": "ToolsetList",
    "delete_toolset": "DeletedToolset",
    "list_toolset_tools": "ToolsetTools",
}


def operations(document):
    """Every operation an API key calls: its id, method, path and description."""
    for path, methods in sorted(document["paths"].items()):
        for method in METHODS:
            operation = methods.get(method)
            if operation and path.startswith("/v1/") and not sends_bytes(operation):
                yield operation["operationId"], method.upper(), path, operation


def sends_bytes(operation):
    """Whether the body or the answer is a file, which the clients leave to the language's HTTP library."""
    answers = (answer for code, answer in operation["responses"].items() if code.startswith("2"))
    return any("application/octet-stream" in part.get("content", {}) for part in (operation.get("requestBody", {}), *answers))


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def bare(schema):
    """A shape without its words, for comparing."""
    if isinstance(schema, dict):
        kept = {key: bare(value) for key, value in schema.items() if key not in ("description", "example")}
        if isinstance(kept.get("required"), list):
            kept["required"] = sorted(kept["required"])
        return kept
    return [bare(item) for item in schema] if isinstance(schema, list) else schema


def hoisted(document):
    """The named shapes, those of the answers among them, and for each operation the name of its answer."""
    schemas = copy.deepcopy(document["components"]["schemas"])
    known = {json.dumps(bare(schema), sort_keys=True): name for name, schema in schemas.items()}
    answers = {}
    in_order = sorted(operations(document), key=lambda found: found[0] not in NAMES)
    for operation_id, _, _, operation in in_order:
        success = next((code for code in sorted(operation["responses"]) if code.startswith("2")), None)
        content = operation["responses"].get(success, {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        data = schema.get("properties", {}).get("data")
        if data is None:
            continue
        if "$ref" in data:
            answers[operation_id] = data["$ref"].rsplit("/", 1)[1]
            continue
        shape = json.dumps(bare(data), sort_keys=True)
        name = known.get(shape)
        if name is None:
            name = NAMES.get(operation_id, pascal(operation_id) + "Answer")
            known[shape] = name
            schemas[name] = data
        answers[operation_id] = name
    return schemas, answers


def resolved(document, schema):
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def routes(document, answers):
    """For each operation where each of its values goes."""
    found = {}
    for operation_id, method, path, operation in operations(document):
        places = {"path": [], "query": [], "header": []}
        for parameter in operation.get("parameters", []):
            if "$ref" in parameter:
                parameter = document["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
            places[parameter["in"]].append(parameter["name"])
        content = operation.get("requestBody", {}).get("content", {})
        body = resolved(document, content["application/json"]["schema"]) if "application/json" in content else {}
        found[operation_id] = {
            "method": method,
            "path": path,
            "query": places["query"],
            "header": places["header"],
            "body": sorted(body.get("properties", {})),
            "answer": answers.get(operation_id),
        }
    return dict(sorted(found.items()))


def merged(schemas, schema):
    """A shape whose variants and parts are laid into one object, for languages without unions of objects."""
    if "$ref" in schema:
        return merged(schemas, schemas[schema["$ref"].rsplit("/", 1)[1]])
    parts = schema.get("allOf") or schema.get("oneOf")
    if parts is None:
        return schema
    parts = [merged(schemas, part) for part in parts]
    properties, required = {}, []
    for part in parts:
        for name, shape in part.get("properties", {}).items():
            there = properties.get(name)
            if there is not None and "enum" in there and "enum" in shape:
                shape = {**there, "enum": there["enum"] + [word for word in shape["enum"] if word not in there["enum"]]}
            properties[name] = shape
        required += [name for name in part.get("required", []) if name not in required]
    if "oneOf" in schema:
        required = [name for name in required if all(name in part.get("required", []) for part in parts)]
    return {"type": "object", "description": schema.get("description", ""), "required": required, "properties": properties}


def plain(schemas):
    """The shapes for languages that read records, not unions: every named object is one object."""
    def is_union(schema):
        parts = schema.get("allOf") or schema.get("oneOf") or []
        return bool(parts) and all("$ref" in part or "properties" in part or "allOf" in part or "oneOf" in part for part in parts)

    def opened(schema):
        if isinstance(schema, dict):
            return {key: opened(value) for key, value in schema.items() if key not in ("additionalProperties", "propertyNames") or value not in (False, {"type": "string"})}
        return [opened(item) for item in schema] if isinstance(schema, list) else schema

    return {name: opened(merged(schemas, schema) if is_union(schema) else schema) for name, schema in schemas.items()}


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def document_of(schemas):
    return json.dumps({
        "openapi": "3.1.0",
        "info": {"title": "toolgate", "version": "1"},
        "paths": {},
        "components": {"schemas": schemas},
    })


def tidy(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def python(schemas, table, tools, _):
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, "openapi.json"), pathlib.Path(folder, "types.py")
        given.write_text(document_of(plain(schemas)))
        run(
            tools / "python/bin/datamodel-codegen", "--input", given, "--input-file-type", "openapi",
            "--output", made, "--output-model-type", "typing.TypedDict", "--target-python-version", "3.11",
            "--use-annotated", "--enum-field-as-literal", "all", "--use-schema-description", "--use-field-description",
            "--use-union-operator", "--use-standard-collections", "--use-double-quotes", "--disable-timestamp",
            "--custom-file-header", '"""The shapes of the API. Made by sdk/clients/generate.py; do not edit."""',
            "--wrap-string-literal", "--formatters", "black",
        )
        types = made.read_text()
    lines = ['"""Where each operation\'s values go. Made by sdk/clients/generate.py; do not edit."""', "",
             "from typing import NamedTuple", "", "",
             "class Route(NamedTuple):", "    method: str", "    path: str", "    query: tuple[str, ...]",
             "    header: tuple[str, ...]", "    body: tuple[str, ...]", "", "", "ROUTES = {"]
    for name, route in table.items():
        values = (route["method"], route["path"], tuple(route["query"]), tuple(route["header"]), tuple(route["body"]))
        lines.append(f'    "{name}": Route(')
        lines += [f"        {json.dumps(value)}," if isinstance(value, str) else f"        {tuple_of(value)}," for value in values]
        lines.append("    ),")
    return {"sdk/clients/python/src/toolgate/types.py": types, "sdk/clients/python/src/toolgate/_routes.py": "\n".join(lines + ["}"])}


def node(schemas, table, tools, document):
    paths = copy.deepcopy(document["paths"])
    for operation_id, _, _, operation in operations({"paths": paths}):
        answer = table[operation_id]["answer"]
        for code, response in operation["responses"].items():
            schema = response.get("content", {}).get("application/json", {}).get("schema", {})
            if code.startswith("2") and answer and "data" in schema.get("properties", {}):
                schema["properties"]["data"] = {"$ref": f"#/components/schemas/{answer}"}
    whole = {**document, "paths": {path: made for path, made in paths.items() if path.startswith("/v1/")}}
    whole["components"] = {**document["components"], "schemas": schemas}
    types = typescript(json.dumps(whole), tools)
    lines = ["/** Where each operation's values go. Made by sdk/clients/generate.py; do not edit. */", "",
             "export interface Route {", "  method: string;", "  path: string;", "  query: readonly string[];",
             "  header: readonly string[];", "  body: readonly string[];", "}", "", "export const ROUTES = {"]
    for name, route in table.items():
        kept = {key: value for key, value in route.items() if key != "answer"}
        lines.append(f"  {name}: {json.dumps(kept)},")
    lines += ["} as const satisfies Record<string, Route>;", "", "export type Operation = keyof typeof ROUTES;"]
    return {"sdk/clients/node/src/api.ts": types, "sdk/clients/node/src/routes.ts": "\n".join(lines)}


def dashboard(schemas, table, tools, _):
    """The shapes alone: the dashboard asks for the mirrored routes by their paths."""
    return {"host/dashboard/src/api/schema.ts": typescript(document_of(schemas), tools)}


def typescript(document, tools):
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, "openapi.json"), pathlib.Path(folder, "api.ts")
        given.write_text(document)
        binary = tools / "node/node_modules/.bin/openapi-typescript"
        run(binary, given, "--output", made, "--root-types", "--root-types-no-schema-prefix", "--alphabetize",
            "--empty-objects-unknown")
        types = made.read_text()
    return types.replace(types[:types.index("*/") + 2], "/** The shapes of the API. Made by sdk/clients/generate.py; do not edit. */", 1)


INITIALISMS = {"id": "ID", "ids": "IDs", "url": "URL", "json": "JSON", "ip": "IP", "sha256": "SHA256", "mcp": "MCP", "api": "API"}


def go_name(name):
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name.replace("-", "_")).split("_")
    return "".join(INITIALISMS.get(word, word[:1].upper() + word[1:]) for word in words if word)


def go_type(schema, sent):
    """The Go type of a value, and whether nil stands for its absence."""
    if not isinstance(schema, dict) or not schema:
        return "json.RawMessage", True
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1], False
    variants = [part for part in schema.get("oneOf", schema.get("anyOf", [])) if part.get("type") != "null"]
    if len(variants) == 1:
        return go_type(variants[0], sent)
    if variants or "allOf" in schema:
        return "any", True
    kinds = schema.get("type", "object")
    kind = next(kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null")
    if kind == "array":
        items = schema.get("items") or (schema.get("prefixItems") or [{}])[0]
        return f"[]{go_type(items, sent)[0]}", True
    if kind == "object":
        inner = schema.get("additionalProperties")
        return (f"map[string]{go_type(inner, sent)[0]}" if isinstance(inner, dict) and inner else "map[string]any"), True
    if kind == "string":
        return ("time.Time" if schema.get("format") == "date-time" and not sent else "string"), False
    return {"boolean": "bool", "integer": "int64" if schema.get("format") == "int64" else "int", "number": "float64"}[kind], False


def go_comment(text, indent=""):
    return [f"{indent}// {line}".rstrip() for line in (text or "").strip().splitlines()]


def go_struct(name, fields, comment, enums):
    """`fields`: name in the document, schema, whether it is always there, tag."""
    lines = [*go_comment(comment), f"type {name} struct {{"]
    for field, schema, there, tag, sent in fields:
        kind, by_nil = go_type(schema, sent)
        # A change to false has to differ from no change.
        changes = sent and kind == "bool" and "null" in schema.get("type", "")
        zero_is_absent = (kind in ("string", "bool") and not changes) or kind in enums or (sent and schema.get("minimum", 0) > 0)
        pointer = "" if there or by_nil or zero_is_absent else "*"
        lines += go_comment(schema.get("description") if isinstance(schema, dict) else None, "\t")
        lines.append(f"\t{go_name(field)} {pointer}{kind} `{tag}`")
    return lines + ["}", ""]


def go(schemas, table, tools, document):
    lines = ["// Code generated by sdk/clients/generate.py from the OpenAPI document. DO NOT EDIT.", "", "package toolgate", "",
             "import (", '"encoding/json"', '"time"', ")", ""]
    shapes = plain(schemas)
    enums = {name for name, schema in shapes.items() if "enum" in schema}
    for name, schema in sorted(shapes.items()):
        if name.endswith("Body") or name in ("Execution", "Outcome", "SchemaOrRef", "Failure", "Error", "Meta"):
            continue
        comment = (schema.get("description") or "").strip()
        if schema.get("type") == "string" and "enum" in schema:
            lines += [*go_comment(comment), f"type {name} string", "", "const ("]
            lines += [f'\t{name}{go_name(re.sub(r"[^A-Za-z0-9]+", "_", word))} {name} = "{word}"' for word in schema["enum"]]
            lines += [")", ""]
            continue
        required = schema.get("required", [])
        fields = [(field, shape, field in required and "null" not in str(shape.get("type", "") if isinstance(shape, dict) else ""),
                   f'json:"{field}{"" if field in required else ",omitempty"}"', False)
                  for field, shape in schema.get("properties", {}).items()]
        lines += go_struct(name, fields, comment, enums)
    for operation_id, _, _, operation in sorted(operations(document), key=lambda found: found[0]):
        route, fields = table[operation_id], []
        for parameter in operation.get("parameters", []):
            if parameter.get("in") in ("query", "header"):
                described = {**parameter["schema"], "description": parameter.get("description", "")}
                fields.append((parameter["name"], described, False, f'in:"{parameter["in"]},{parameter["name"]}"', True))
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            body = resolved(document, content["application/json"]["schema"])
            for field in route["body"]:
                shape = body["properties"][field]
                fields.append((field, shape, False, f'in:"body,{field}"', True))
        if fields:
            name = go_name(operation_id) + "Params"
            lines += go_struct(name, fields, f"{name} is what {route['method']} {route['path']} takes beside its path. What is zero is not sent.", enums)
    routes_go = ["// Code generated by sdk/clients/generate.py from the OpenAPI document. DO NOT EDIT.", "", "package toolgate", "",
                 "// routes says where each operation is.", "var routes = map[string]route{"]
    for name, route in table.items():
        keyed = str("Idempotency-Key" in route["header"]).lower()
        routes_go.append(f'"{name}": {{method: "{route["method"]}", path: "{route["path"]}", keyed: {keyed}}},')
    made = {"sdk/clients/go/types.go": "\n".join(lines), "sdk/clients/go/routes.go": "\n".join(routes_go + ["}"])}
    return {name: run(tools / "go/go/bin/gofmt", input=text) for name, text in made.items()}


def tuple_of(values):
    return "(" + ", ".join(json.dumps(value) for value in values) + ("," if len(values) == 1 else "") + ")"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    check = "--check" in sys.argv
    text, tools = pathlib.Path(words[0]).read_text(), pathlib.Path(words[1])
    document = json.loads(text.split("---\n", 2)[2] if text.startswith("---\n") else text)
    schemas, answers = hoisted(document)
    table = routes(document, answers)
    makers = {"python": python, "node": node, "go": go, "dashboard": dashboard}
    differing = []
    for reader in words[2:] or makers:
        for name, text in makers[reader](copy.deepcopy(schemas), table, tools, document).items():
            path, text = ROOT / name, tidy(text)
            there = path.read_text() if path.exists() else ""
            if there == text:
                continue
            if not check:
                path.write_text(text)
                print(f"wrote {name}")
                continue
            difference = difflib.unified_diff(there.splitlines(), text.splitlines(), name, "the document", lineterm="", n=2)
            differing.append("\n".join(list(difference)[:80]))
    if differing:
        sys.exit("\n".join(differing) + "\nThese files differ from the document: run `make sdk`.")


if __name__ == "__main__":
    main()
