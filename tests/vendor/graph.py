#!/usr/bin/env python3
"""Writes what Microsoft's Python client of Graph says of its API as an OpenAPI document: `graph.py FOLDER OUT`.

The client is generated from the description of Graph, which is too large for a snapshot: request builders hold the
addresses, methods and query parameters, models the properties of bodies. Its files are read as text; none is run.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote

BUILDER = re.compile(r'super\(\).__init__\(request_adapter, "\{\+baseurl\}([^"]*)"')
REQUEST = re.compile(r"def to_(\w+)_request_information\(self,(?:body: (\w+), )?.*?RequestInformation\(Method\.(\w+), (self\.url_template|'[^']*')", re.S)
IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import (\w+)", re.M)
CLASS = re.compile(r"^class (\w+)\(([\w, ]*)\):", re.M)
FIELD = re.compile(r'^\s+"([^"]+)": lambda n : setattr\(self, \'\w+\', n\.(\w+)\((\w*)\)\)', re.M)
CHILD = re.compile(r'casefold\(\) == "#microsoft\.graph[^"]*"\.casefold\(\):\s+from (\.+)([\w.]*) import (\w+)')
VALUE = re.compile(r'^\s+\w+ = "([^"]+)"', re.M)
PRIMITIVES = {
    "get_str_value": "string", "get_bool_value": "boolean", "get_int_value": "integer", "get_float_value": "number",
    "str": "string", "bool": "boolean", "int": "integer", "float": "number",
}


class Client:
    def __init__(self, folder):
        self.folder = folder
        self.schemas = {}
        self.paths = {}

    def read(self):
        for file in sorted(self.folder.glob("**/*_request_builder.py")):
            self.builder(file)
        self.aliases()
        return {
            "openapi": "3.1.0", "info": {"title": "Microsoft Graph", "version": "1.0"},
            "servers": [{"url": "https://graph.microsoft.com/v1.0"}],
            "paths": self.paths, "components": {"schemas": self.schemas},
        }

    def builder(self, file):
        text = file.read_text()
        found = BUILDER.search(text)
        if not found:
            return
        imports = imported(text, file)
        for _, body, method, template in REQUEST.findall(text):
            own = found[1] if template == "self.url_template" else template.strip("'").removeprefix("{+baseurl}")
            path, query = re.fullmatch(r"(.*?)((?:\{\?|\?).*)?", own).groups()
            # `?endDateTime={endDateTime}{&%24filter,%24top}` and `{?%24filter,%24top}`.
            names = re.findall(r"[?&]([\w%-]+)=\{", query or "")
            for group in re.findall(r"\{[?&]([^}]*)\}", query or ""):
                names += group.split(",")
            names = [unquote(name.rstrip("*")) for name in names]
            operation = {"parameters": [{"name": name, "in": "query", "schema": {}} for name in names]}
            if body == "bytes":
                operation["requestBody"] = {"content": {"*/*": {"schema": {}}}}
            elif body:
                schema = self.reference(imports[body]) if body in imports else {}
                operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
            self.paths.setdefault(unquote(path), {})[method.lower()] = operation

    def aliases(self):
        """The addresses of the signed-in user, and of a drive by its owner: Graph serves the same below them."""
        for path, item in list(self.paths.items()):
            for own, others in [
                ("/users/{user-id}", ["/me"]),
                ("/drives/{drive-id}", ["/me/drive", "/users/{user-id}/drive", "/sites/{site-id}/drive", "/groups/{group-id}/drive"]),
            ]:
                if path == own or path.startswith(own + "/"):
                    for other in others:
                        self.paths.setdefault(other + path.removeprefix(own), item)
            item_of_drive = "/drives/{drive-id}/items/{driveItem-id}"
            if path.startswith(item_of_drive + "/"):
                for drive in ["/drives/{drive-id}", "/me/drive", "/sites/{site-id}/drive"]:
                    self.paths.setdefault(drive + "/root" + path.removeprefix(item_of_drive), item)
                    self.paths.setdefault(drive + "/items/{driveItem-id}" + path.removeprefix(item_of_drive), item)

    def reference(self, file):
        name = ".".join(file.relative_to(self.folder).with_suffix("").parts)
        if name not in self.schemas:
            self.schemas[name] = {}
            self.schemas[name] = self.schema(file)
        return {"$ref": f"#/components/schemas/{name}"}

    def schema(self, file):
        if not file.is_file():
            return {}
        text = file.read_text()
        head = CLASS.search(text)
        if not head:
            return {}
        if "Enum" in head[2]:
            return {"type": ["string", "null"], "enum": VALUE.findall(text) + [None]}
        properties = {}
        for one in self.family(file):
            properties.update(self.properties(one))
        # A class without properties of its own holds what a customer has defined, such as the fields of a list.
        own = set(self.properties(file)) - {"id"}
        properties["@odata.type"] = {"type": "string"}
        return {"type": "object", "properties": properties, "additionalProperties": not own}

    def family(self, file):
        """The class, those that it extends and those that its `@odata.type` tells apart."""
        found, left = [], [file]
        while left:
            one = left.pop()
            if one in found or not one.is_file():
                continue
            found.append(one)
            text = one.read_text()
            imports = imported(text, one)
            head = CLASS.search(text)
            parents = [name.strip() for name in head[2].split(",")] if head else []
            left += [imports[name] for name in parents if name in imports]
            if one == file:
                left += [located(dots, module, one) for dots, module, _ in CHILD.findall(text)]
        return found

    def properties(self, file):
        text = file.read_text()
        imports = imported(text, file)
        made = {}
        fields = FIELD.findall(text)
        if file.stem.endswith("_request_body"):
            # The parameters of an action have a capital in the client and none in the documentation; Graph takes both.
            fields += [(name[0].lower() + name[1:], kind, of) for name, kind, of in fields if name[0].isupper()]
        for name, kind, of in fields:
            if kind in PRIMITIVES:
                made[name] = {"type": [PRIMITIVES[kind], "null"]}
            elif kind == "get_collection_of_primitive_values":
                made[name] = {"type": "array", "items": {"type": PRIMITIVES.get(of, "string")}}
            elif kind.endswith("_value") and kind not in ("get_object_value", "get_enum_value"):
                made[name] = {"type": ["string", "null"]}
            else:
                one = self.reference(imports[of]) if of in imports else {}
                made[name] = {"type": "array", "items": one} if kind.startswith("get_collection") else one
                made[f"{name}@odata.bind"] = {}
        return made


def located(dots, module, file):
    folder = file.parent
    for _ in dots[1:]:
        folder = folder.parent
    return folder.joinpath(*module.split(".")).with_suffix(".py")


def imported(text, file):
    return {name: located(dots, module, file) for dots, module, name in IMPORT.findall(text)}


if __name__ == "__main__":
    folder, out = map(Path, sys.argv[1:])
    out.write_text(json.dumps(Client(folder / "msgraph" / "generated").read()))
