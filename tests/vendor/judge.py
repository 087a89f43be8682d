"""Holds a planned request against a service's description."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

from shapes import Checker

FORM = "application/x-www-form-urlencoded"
# OpenAPI 3.1, 4.8.12.1, takes the first three out of the parameters.
OWN_HEADERS = {"accept", "content-type", "authorization", "user-agent", "content-length"}


class Description:
    """All documents of one service."""

    def __init__(self, documents):
        self.documents = [(document, Checker(document.resolve, document.nulls)) for document in documents]

    def judge(self, request):
        """What is wrong with the request; None where no document knows its path under any method."""
        url = urlsplit(request["url"])
        path = re.sub(r"%5Bslot[^/]*?%5D|\[slot [^\]]*\]", "slot", url.path)
        found = [
            (operation, checker)
            for document, checker in self.documents
            for operation in document.operations
            if operation.fits(path)
        ]
        if not found:
            return None
        methods = sorted({operation.method for operation, _ in found})
        found = [one for one in found if one[0].method == request["method"].upper()]
        if not found:
            return [f"{request['method']} {path}: described with {', '.join(methods)} only"]
        most = max(operation.literals for operation, _ in found)
        tried = [judge(one, checker, request, url) for one, checker in found if one.literals == most]
        if request.get("recorded"):
            # A recorded exchange tells what it wants to; a credential is not in it.
            tried = [[what for what in wrong if not re.match("required .* is missing$", what)] for wrong in tried]
        # Variants of one path differ by what they take: the one for this content type is meant.
        return min(tried, key=lambda wrong: (any(what.startswith("content type") for what in wrong), len(wrong)))


def judge(operation, checker, request, url):
    wrong = []
    if operation.deprecated:
        wrong.append(f"{operation.method} {operation.path} is deprecated")
    wrong += query(operation, checker, url)
    sent = {name.lower() for name, _ in request["headers"]}
    for parameter in operation.parameters:
        if parameter.place == "header" and parameter.required and parameter.name.lower() not in sent | OWN_HEADERS:
            wrong.append(f"required header {parameter.name} is missing")
    wrong += body(operation, checker, request)
    return wrong


def query(operation, checker, url):
    wrong = []
    known = {one.name: one for one in operation.parameters if one.place == "query"}
    pairs = [(name, value) for name, value in parse_qsl(url.query, keep_blank_values=True) if "[slot " not in value]
    values, nested = {}, []
    for name, value in pairs:
        base = name.split("[")[0]
        one = known.get(name) or known.get(name + "[]") or known.get(name.removesuffix("[]")) or known.get(re.sub(r"\[\d+\]$", "", name))
        if one is not None:
            values.setdefault(one.name, []).append(value)
        elif base in known and base != name:
            nested.append((name, value))
            values.setdefault(base, None)
        elif not spread(known, checker, name):
            wrong.append(f"query parameter {name} is not described")
    for name, sent in values.items():
        if known[name].deprecated:
            wrong.append(f"query parameter {name} is deprecated")
        if sent is not None:
            wrong += text_values(sent, known[name], checker)
    for base in {name.split("[")[0] for name, _ in nested}:
        tree = unfolded([pair for pair in nested if pair[0].split("[")[0] == base])
        schema = known[base].schema
        wrong += checker.check(tree[base], schema, f"query {base}", loose=True)
    missing = [name for name, one in known.items() if one.required and name not in values]
    # A credential in the query is not shown by its value.
    slots = {name for name, value in parse_qsl(url.query, keep_blank_values=True) if "[slot " in value}
    wrong += [f"required query parameter {name} is missing" for name in missing if name not in slots and not one_object(known[name], checker)]
    return wrong


def one_object(parameter, checker):
    shape = checker.shape(parameter.schema)
    return shape.types == {"object"}


def spread(known, checker, name):
    """A parameter of type object that is written as its properties."""
    for one in known.values():
        shape = checker.shape(one.schema)
        if shape.types and "object" in shape.types and one.style in (None, "form") and (name in shape.properties or not shape.properties):
            return True
    return False


def text_values(sent, parameter, checker):
    shape = checker.shape(parameter.schema)
    name = f"query {parameter.name}"
    if shape.types and "object" in shape.types:
        return []
    if shape.types and "array" in shape.types and shape.items:
        items = [part for value in sent for part in (value.split(",") if parameter.style != "multi" else [value])]
        return [what for item in items for what in checker.best(item, shape.items, name, True, 0)][:3]
    return [what for value in sent for what in checker.check(value, parameter.schema, name, loose=True)][:3]


def body(operation, checker, request):
    text = request["body"]
    if text is None:
        return []
    media = next((value for name, value in request["headers"] if name.lower() == "content-type"), "")
    plain = media.split(";")[0].strip().lower()
    if not text or (operation.bodies is None and text in ("{}", "[]")):
        needed = operation.body_required and operation.bodies and text == "" and any(
            need for schema in list(operation.bodies.values())[:1] for need in [checker.shape(schema).required] if all(need)
        )
        return ["the required body is missing"] if needed else []
    if operation.bodies is None:
        return [f"{operation.method} {operation.path} takes no body"]
    if not operation.media_matters:
        return []
    found = pick(operation.bodies, plain)
    if found is None:
        return [f"content type {plain or 'none'} is none of {', '.join(operation.bodies)}"]
    schema = operation.bodies[found]
    if plain.endswith("json"):
        try:
            value = json.loads(text)
        except ValueError:
            return ["the body is not JSON"]
        return checker.check(value, schema)
    if plain == FORM:
        return checker.check(unfolded(parse_qsl(text, keep_blank_values=True)), schema, loose=True)
    if plain == "multipart/form-data":
        return checker.check(parts(text, media), schema, loose=True)
    return []


def pick(bodies, plain):
    if plain in bodies:
        return plain
    for media in bodies:
        if media in ("*/*", "application/*") or plain == "application/json" and media.endswith("+json"):
            return media
        if media.split("/")[-1] == "*" and media.split("/")[0] == plain.split("/")[0]:
            return media
    return None


def unfolded(pairs):
    """`a[b][0]=c` as the tree it stands for."""
    tree = {}
    for name, value in pairs:
        head, *rest = re.split(r"\[", name)
        keys = [head] + [part.rstrip("]") for part in rest]
        node = tree
        for n, key in enumerate(keys[:-1]):
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                break
        else:
            last = keys[-1]
            if last == "":
                node[str(len(node))] = value
            elif last in node and len(keys) == 1:
                kept = node[last] if isinstance(node[last], list) else [node[last]]
                node[last] = kept + [value]
            else:
                node[last] = value
    return lists(tree)


def lists(node):
    if not isinstance(node, dict):
        return node
    made = {key: lists(value) for key, value in node.items()}
    if made and all(key.isdigit() for key in made):
        return list(made.values())
    return made


def parts(text, media):
    boundary = re.search(r'boundary="?([^";]+)"?', media)
    made = {}
    for part in text.split("--" + boundary[1])[1:-1] if boundary else []:
        name = re.search(r'name="([^"]*)"', part)
        value = part.split("\r\n\r\n", 1)[-1].removesuffix("\r\n")
        if name:
            file = "filename=" in part.split("\r\n\r\n")[0]
            if value.startswith("{") and value.endswith("}"):
                value = json.loads(value)
            key = name[1].removesuffix("[]")
            if key in made or name[1].endswith("[]"):
                made[key] = (made.get(key) or []) + [value] if isinstance(made.get(key, []), list) else [made[key], value]
            else:
                made[key] = "file" if file else value
    return made
