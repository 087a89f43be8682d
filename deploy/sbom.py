#!/usr/bin/env python3
"""sbom.py [--embedded] [TARGET]: prints what the program is made of, as CycloneDX 1.5.

With --embedded, in the form that the program carries in its section `.dep-v0`, which scanners of binaries read
(https://github.com/rust-secure-code/cargo-auditable, PARSING.md): zlib around JSON, the crates alone.

The crates that are compiled into it for TARGET (tests and build scripts are not in it), with the checksums of
Cargo.lock, and the npm packages of the dashboard, which the program embeds, with those of package-lock.json.
"""

import base64
import json
import os
import subprocess
import sys
import tomllib
import uuid
import zlib
from datetime import datetime, timezone
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PROGRAM = "toolgate"


def crates(target):
    """The components, and which depends on which."""
    # It reads the manifests of all dependencies, those of the tests too, which a build of the program does not download.
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run(asked, cwd=TOP, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    lock = tomllib.loads((TOP / "Cargo.lock").read_text())
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    root = next(id for id in metadata["workspace_members"] if packages[id]["name"] == PROGRAM)

    edges, waiting = {}, [root]
    while waiting:
        id = waiting.pop()
        if id in edges:
            continue
        # A crate of macros runs while its user is compiled, and is not in the program.
        linked = [
            dep["pkg"]
            for dep in nodes[id]["deps"]
            if any(kind["kind"] is None for kind in dep["dep_kinds"])
            and not any("proc-macro" in one["kind"] for one in packages[dep["pkg"]]["targets"])
        ]
        edges[id] = linked
        waiting.extend(linked)

    def reference(id):
        package = packages[id]
        return f"pkg:cargo/{package['name']}@{package['version']}"

    components = []
    for id in edges:
        package = packages[id]
        component = {
            "type": "application" if id == root else "library",
            "bom-ref": reference(id),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(id),
        }
        if package.get("license"):
            # Cargo still accepts the old separator.
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        checksum = checksums.get((package["name"], package["version"]))
        if checksum:
            component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        components.append(component)
    dependencies = {reference(id): sorted({reference(to) for to in linked}) for id, linked in edges.items()}
    return reference(root), components, dependencies


def npm_packages():
    """What the page of the dashboard is built from, without what only builds it, and the script of the API reference."""
    lock = json.loads((TOP / "host/dashboard/package-lock.json").read_text())
    scalar = json.loads((TOP / "host/dashboard/reference/scalar.json").read_text())
    packages = [(scalar["name"], scalar)]
    for path, package in lock["packages"].items():
        if path and not package.get("dev") and not package.get("link"):
            packages.append((path.rsplit("node_modules/", 1)[1], package))
    components = {}
    for name, package in packages:
        purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        component = {"type": "library", "bom-ref": purl, "name": name, "version": package["version"], "purl": purl}
        if "license" in package:
            component["licenses"] = [{"expression": package["license"]}]
        algorithm, _, digest = package.get("integrity", "").partition("-")
        if algorithm == "sha512":
            component["hashes"] = [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}]
        components[purl] = component
    return list(components.values())


def embedded(root, components, dependencies):
    """The crates as the section holds them: each names what it depends on by place."""
    listed = sorted(components, key=lambda one: (one["name"], one["version"]))
    places = {one["bom-ref"]: place for place, one in enumerate(listed)}
    packages = []
    for one in listed:
        package = {
            "name": one["name"],
            "version": one["version"],
            # What has a checksum comes from the registry.
            "source": "crates.io" if "hashes" in one else "local",
            "dependencies": sorted(places[ref] for ref in dependencies[one["bom-ref"]]),
        }
        if one["bom-ref"] == root:
            package["root"] = True
        packages.append(package)
    return zlib.compress(json.dumps({"packages": packages}, separators=(",", ":")).encode(), 9)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--embedded"]
    target = arguments[0] if arguments else f"{os.uname().machine}-unknown-linux-gnu"
    root, components, dependencies = crates(target)
    if "--embedded" in sys.argv:
        sys.stdout.buffer.write(embedded(root, components, dependencies))
        return
    dashboard = npm_packages()
    dependencies[root] = dependencies[root] + sorted(one["purl"] for one in dashboard)
    dependencies.update({one["purl"]: [] for one in dashboard})
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    program = next(one for one in components if one["bom-ref"] == root)
    listed = sorted((one for one in components if one is not program), key=lambda one: one["bom-ref"])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": program,
        },
        "components": listed + sorted(dashboard, key=lambda one: one["bom-ref"]),
        "dependencies": [{"ref": ref, "dependsOn": on} for ref, on in sorted(dependencies.items())],
    }
    # The same content has the same name.
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    document["serialNumber"] = f"urn:uuid:{name}"
    json.dump(document, sys.stdout, indent=1)
    print()


main()
