#!/usr/bin/env python3
"""Compares Cargo.lock with the copy of the advisory database beside this file, as cargo-deny does with the database:
every version that has a vulnerability, and crates that a crate of the workspace names itself and that are unmaintained
or unsound. Prints what was found; ends with 1 for that, and for a crate that the copy does not know.

`check.py LOCK` reads another lock file.
"""

import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent


def parts(text):
    """A version as something to compare: one before a release comes before it."""
    core, _, before = text.split("+")[0].partition("-")
    numbers = [int(number) for number in core.split(".")]
    numbers += [0] * (3 - len(numbers))
    # A number is less than a word (semver, 11.4).
    words = [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in before.split(".") if word]
    return tuple(numbers), (0, words) if words else (1, [])


def fits(version, requirement):
    """Whether a version is in a requirement such as `>= 1.2.3, < 2.0.0` or `^1.2`."""
    return all(fits_one(version, one.strip()) for one in requirement.split(","))


def fits_one(version, one):
    found = re.fullmatch(r"(>=|<=|>|<|=|\^|~)?\s*(\S+)", one)
    sign, text = found[1] or "^", found[2]
    version, bound = parts(version), parts(text)
    given = text.split("-")[0].count(".") + 1
    if sign in ("^", "~"):
        major, minor, patch = bound[0]
        if sign == "~":
            above = (major, minor + 1, 0) if given > 1 else (major + 1, 0, 0)
        elif major > 0 or given == 1:
            above = (major + 1, 0, 0)
        elif minor > 0 or given == 2:
            above = (0, minor + 1, 0)
        else:
            above = (0, 0, patch + 1)
        return bound <= version and version[0] < above
    return {
        ">=": version >= bound,
        ">": version > bound,
        "<=": version <= bound,
        "<": version < bound,
        "=": version == bound,
    }[sign]


def advisories(crate):
    for file in sorted((HERE / "crates" / crate).glob("*.md")):
        front = re.search(r"```toml\n(.*?)```", file.read_text(), re.DOTALL)
        read = tomllib.loads(front[1])
        if not read["advisory"].get("withdrawn"):
            yield read, file.name


def affects(read, version):
    known = read["versions"]
    fine = known.get("patched", []) + known.get("unaffected", [])
    return not any(fits(version, requirement) for requirement in fine)


def direct():
    """The crates that the manifests of the workspace name."""
    named = set()
    for manifest in [TOP / "Cargo.toml", *(file for depth in (2, 3, 4) for file in TOP.glob("*/" * depth + "Cargo.toml"))]:
        read = tomllib.loads(manifest.read_text())
        tables = [read, read.get("workspace", {}), *read.get("target", {}).values()]
        for table in tables:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                for name, about in table.get(kind, {}).items():
                    named.add(about.get("package", name) if isinstance(about, dict) else name)
    return named


def main():
    lock = tomllib.loads(Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "Cargo.lock").read_text())
    known = set((HERE / "crates.txt").read_text().split())
    own, wrong = direct(), []
    for package in lock["package"]:
        name, version = package["name"], package["version"]
        # The crates of this repository have no source and are in no database.
        ours = "source" not in package and name.startswith("toolgate")
        if name not in known and not ours:
            wrong.append(f"{name} is not in tests/advisories/crates.txt: run tests/advisories/refresh.sh")
        for read, file in advisories(name):
            informational = read["advisory"].get("informational")
            if affects(read, version) and (not informational or name in own):
                wrong.append(f"{name} {version}: {informational or 'vulnerability'}, {file}")
    print("\n".join(wrong) or f"{len(lock['package'])} crates, no advisory")
    sys.exit(bool(wrong))


main()
