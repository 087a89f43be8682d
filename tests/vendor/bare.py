"""Reads `plugin catalog --json` and names the required arguments that are objects of which nothing is told.

Such an argument lets `{}` pass here and fail at the service. An object is told by its properties, by the type of its values,
or by alternatives.
"""

import json
import sys


def bare(schema, place, required=True, depth=0):
    """Places of objects without a shape, each with whether it is required."""
    if not isinstance(schema, dict) or depth > 12:
        return
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    words = ("properties", "oneOf", "anyOf", "allOf", "$ref", "const", "enum", "patternProperties")
    told = any(schema.get(word) for word in words) or schema.get("additionalProperties") is False
    values = schema.get("additionalProperties")
    # A value of several types, such as that of a field in a record, is told by them.
    alone = [kind for kind in kinds if kind != "null"] == ["object"]
    if alone and place and not told and not (isinstance(values, dict) and values):
        yield place, required
    for name, property in (schema.get("properties") or {}).items():
        yield from bare(property, place + [name], required and name in schema.get("required", []), depth + 1)
    yield from bare(schema.get("items"), place + ["[]"], required, depth + 1)
    yield from bare(values, place + ["*"], required, depth + 1)
    for word in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(word) or []:
            yield from bare(part, place, required, depth + 1)


def main():
    found = []
    tools = 0
    for service in json.load(sys.stdin)["services"]:
        for tool in service["tools"]:
            tools += 1
            for place, required in bare(tool["input"], []):
                found.append((required, f"{service['service']}_{tool['name']}: {'.'.join(place)}"))
    needed = sorted(place for required, place in found if required)
    print(f"{tools} tools, {len(needed)} required objects without a shape, {len(found) - len(needed)} optional ones")
    for place in needed if "--all" not in sys.argv else sorted(place for _, place in found):
        print(f"  {place}")
    if needed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
