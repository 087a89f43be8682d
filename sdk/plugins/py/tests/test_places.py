"""The place that a build reports for a mistake.

Each is one edit of the plugin that ``toolgate plugin new --lang py`` writes. ``UPDATE=1 pytest`` writes the reported
lines into places.txt.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from toolgate_plugin import build

HERE = Path(__file__).resolve().parent
TABLE = HERE / "places.txt"
CORRECT = "\n" + (HERE.parents[3] / "host/toolgate/src/cli/new/py/plugin.py").read_text()


def cases() -> list[tuple[str, list[str], list[str], list[str]]]:
    """A heading, lines that are removed (``- ``), lines that replace them (``+ ``) and the error's lines (``> ``)."""
    found = []
    for block in re.split(r"^## ", TABLE.read_text(), flags=re.MULTILINE)[1:]:
        name, *lines = block.rstrip().split("\n")
        removed, added, expected = ([line[2:] for line in lines if line.startswith(mark)] for mark in "-+>")
        found.append((name, removed, added, expected))
    return found


def error_lines(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (folder / "src").mkdir(exist_ok=True)
    filled = text[1:].replace("__SERVICE__", "notes").replace("__TITLE__", "Notes")
    (folder / "src/notes.py").write_text(filled)
    monkeypatch.chdir(folder)
    try:
        build.read(Path("src/notes.py"))
    except SystemExit as cause:
        sdk = str(Path(build.__file__).parent)
        return str(cause).replace(sdk, "toolgate_plugin").split("\n")
    return []


def test_the_plugin_without_a_mistake_is_read(tmp_path, monkeypatch):
    assert error_lines(CORRECT, tmp_path, monkeypatch) == []


def test_every_mistake_is_reported_with_its_place(tmp_path, monkeypatch):
    written = []
    for name, removed, added, expected in cases():
        before = "\n".join(["", *removed, ""])
        assert CORRECT.count(before) == 1, f"{name}: {before}"
        lines = error_lines(CORRECT.replace(before, "\n".join(["", *added, ""])), tmp_path, monkeypatch)
        assert any("src/notes.py" in line for line in lines), f"{name}: {lines}"
        if not os.environ.get("UPDATE"):
            # Python 3.13 adds what may have been meant.
            lines = [re.sub(r"\. Did you mean '\w+'\?$", "", line) for line in lines]
            assert lines == expected, name
        marked = [f"{mark} {line}".rstrip() for mark, all_of in zip("-+>", (removed, added, lines)) for line in all_of]
        written.append("\n".join([f"## {name}", *marked]))
    if os.environ.get("UPDATE"):
        TABLE.write_text("\n\n".join(written) + "\n")
