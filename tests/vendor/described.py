"""Reads descriptions of services into one form: OpenAPI 2 and 3, and Google's discovery documents."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import yaml



class Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.2, in which `OFF` is a text, and without dates: a description says 2020-02-30 where it likes."""

    yaml_implicit_resolvers = {
        first: [one for one in resolvers if one[0] not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Plain.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


class Parameter:
    def __init__(self, name, place, schema, required=False, deprecated=False, style=None, explode=None):
        self.name, self.place, self.schema = name, place, schema
        self.required, self.deprecated, self.style, self.explode = required, deprecated, style, explode


class Operation:
    def __init__(self, method, path, bases, wide=()):
        self.method, self.path, self.bases = method.upper(), path, bases
        self.parameters = []
        self.bodies = None  # media type -> schema, where a body is described
        self.body_required = False
        self.deprecated = False
        self.media_matters = True
        path = re.split("[?#]", path)[0]
        template = re.escape(path.rstrip("/"))
        template = re.sub(r"\\\{\\\+[^{}]*\\\}", ".+", template)
        for name in wide:
            # Several segments, or none.
            template = template.replace(r"/\{" + name + r"\}", "(?:/.*)?")
        template = re.sub(r"\\\{[^{}]*\\\}", "[^/]+", template)
        bases = "|".join(sorted({of_base(base) for base in bases}) or [""])
        self.pattern = re.compile(f"(?:{bases}){template}/?$")
        self.literals = len(re.sub(r"\{[^{}]*\}", "", path))

    def fits(self, path):
        return self.pattern.fullmatch(path) is not None


def of_base(base):
    path = re.sub(r"^[a-zA-Z]+://[^/]*", "", base) if "://" in base else base
    return re.sub(r"\\\{[^{}]*\\\}", "[^/]+", re.escape(path.rstrip("/")))


class Document:
    """The operations of one file, and what its references name."""

    def __init__(self, root, operations, resolve):
        self.root, self.operations, self.resolve = root, operations, resolve
        # In Google's JSON a null stands for a value that is not there.
        self.nulls = root.get("kind") == "discovery#restDescription"


def read(file, base=None, wide=(), ending=""):
    return of(parsed(Path(file)), Path(file), base, wide, ending)


def of(root, file=None, base=None, wide=(), ending=""):
    if root.get("kind") == "discovery#restDescription":
        return discovery(root)
    return openapi(root, file, base, wide, ending)


def openapi(root, file, base, wide, ending):
    files = {}

    def resolve(ref):
        target = root
        name, _, pointer = ref.partition("#")
        if name and file is not None:
            path = (file.parent / name).resolve()
            if path not in files:
                files[path] = absolute(parsed(path), path) if path.is_file() else {}
            target = files[path]
        for key in filter(None, pointer.split("/")):
            key = unquote(key).replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and key.isdigit():
                target = target[int(key)]
                continue
            if not isinstance(target, dict) or key not in target:
                return None
            target = target[key]
        return target

    def deref(node):
        for _ in range(16):
            if not (isinstance(node, dict) and "$ref" in node):
                return node
            node = resolve(node["$ref"])
        return node

    old = str(root.get("swagger", "")).startswith("2")
    if base is not None:
        servers = [base]
    elif old:
        servers = [root.get("basePath") or ""]
    else:
        servers = [url for server in root.get("servers") or [{"url": ""}] for url in spelled(server)]
    operations = []
    for path, item in (root.get("paths") or {}).items():
        item = deref(item)
        if not isinstance(item, dict):
            continue
        for method in METHODS:
            node = deref(item.get(method))
            if not isinstance(node, dict):
                continue
            own = [url for server in node.get("servers") or item.get("servers") or [] for url in spelled(server)]
            own = servers if base is not None else own or servers
            made = Operation(method, path.removesuffix(ending), own, wide)
            made.deprecated = bool(node.get("deprecated"))
            by_key = {}
            for parameter in (item.get("parameters") or []) + (node.get("parameters") or []):
                parameter = deref(parameter)
                if isinstance(parameter, dict) and "name" in parameter:
                    by_key[parameter["in"], parameter["name"]] = parameter
            if old:
                swagger(made, by_key, node, root)
            else:
                for (place, name), parameter in by_key.items():
                    content = next(iter((parameter.get("content") or {}).values()), None)
                    schema = parameter.get("schema") if content is None else None
                    made.parameters.append(Parameter(
                        name, place, schema if schema is not None else {}, bool(parameter.get("required")),
                        bool(parameter.get("deprecated")), parameter.get("style"), parameter.get("explode")))
                body = deref(node.get("requestBody"))
                if isinstance(body, dict):
                    made.body_required = bool(body.get("required"))
                    made.bodies = {
                        media.split(";")[0].strip().lower(): (deref(of) or {}).get("schema", {})
                        for media, of in (body.get("content") or {}).items()
                    }
            operations.append(made)
    return Document(root, operations, resolve)


def parsed(file):
    text = file.read_text(encoding="utf-8")
    # Some hold YAML under a name of JSON.
    if file.suffix == ".json" and text.lstrip()[:1] == "{":
        return json.loads(text)
    return yaml.load(text, Loader=Plain)


def absolute(node, path):
    """References of another file, which are relative to it."""
    if isinstance(node, list):
        return [absolute(one, path) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: absolute(value, path) for key, value in node.items()}
    ref = made.get("$ref")
    if isinstance(ref, str):
        name, mark, pointer = ref.partition("#")
        made["$ref"] = str((path.parent / name).resolve() if name else path) + mark + pointer
    return made


def spelled(server):
    """A server's address, once with its variables and once with their defaults."""
    url = server.get("url", "")
    filled = url
    for name, variable in (server.get("variables") or {}).items():
        filled = filled.replace("{" + name + "}", str(variable.get("default", "")).rstrip("/"))
    return {url, filled}


def swagger(made, by_key, node, root):
    form, raw, required = {}, None, []
    consumes = node.get("consumes") or root.get("consumes")
    for (place, name), parameter in by_key.items():
        if place == "body":
            raw = parameter.get("schema", {})
            made.body_required = bool(parameter.get("required"))
        elif place == "formData":
            form[name] = {key: value for key, value in parameter.items() if key not in ("in", "name", "required")}
            if parameter.get("required"):
                required.append(name)
        else:
            style = {"multi": "multi"}.get(parameter.get("collectionFormat"))
            made.parameters.append(Parameter(
                name, place, parameter, bool(parameter.get("required")), bool(parameter.get("deprecated")), style))
    if raw is not None:
        made.bodies = {media.split(";")[0].lower(): raw for media in consumes or ["application/json"]}
    elif form:
        media = [media for media in consumes or [] if "form" in media]
        schema = {"type": "object", "properties": form, "required": required}
        made.bodies = {one: schema for one in media or ["application/x-www-form-urlencoded", "multipart/form-data"]}
        made.body_required = bool(required)


def discovery(root):
    def resolve(ref):
        return root.get("schemas", {}).get(ref)

    shared = root.get("parameters", {})
    operations = []

    def walk(node):
        for method in (node.get("methods") or {}).values():
            paths = [root["servicePath"] + method["path"]]
            if method.get("flatPath"):
                paths.append(root["servicePath"] + method["flatPath"])
            upload = method.get("mediaUpload", {}).get("protocols", {})
            for path, uploads in [(path, False) for path in paths] + [
                (protocol["path"].lstrip("/"), True) for protocol in upload.values()
            ]:
                made = Operation(method["httpMethod"], "/" + path, [""])
                made.deprecated = bool(method.get("deprecated"))
                for name, parameter in {**shared, **method.get("parameters", {})}.items():
                    made.parameters.append(Parameter(
                        name, parameter.get("location", "query"), listed(parameter),
                        bool(parameter.get("required")), bool(parameter.get("deprecated")), "multi"))
                if uploads:
                    made.parameters += [Parameter(name, "query", {"type": "string"}) for name in ("uploadType", "upload_id")]
                    made.bodies, made.media_matters = {"*/*": {}}, False
                elif method.get("request"):
                    made.bodies = {"application/json": {"$ref": method["request"]["$ref"]}}
                operations.append(made)
                if uploads:
                    # The content follows with PUT to the address that the first answer gives.
                    content = Operation("PUT", "/" + path, [""])
                    content.parameters, content.bodies, content.media_matters = made.parameters, made.bodies, False
                    operations.append(content)
        for child in (node.get("resources") or {}).values():
            walk(child)

    walk(root)
    return Document(root, operations, resolve)


def listed(parameter):
    one = {key: parameter[key] for key in ("type", "enum", "minimum", "maximum") if key in parameter}
    for key in ("minimum", "maximum"):
        if key in one:
            one[key] = float(one[key])
    return {"type": "array", "items": one} if parameter.get("repeated") else one
