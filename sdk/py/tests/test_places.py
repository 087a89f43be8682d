"""Where a build says that a mistake is.

Each is one edit of the plugin that ``toolgate plugin new --lang py`` writes. ``UPDATE=1 pytest`` writes what is
told into places.txt.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from toolgate_plugin import build

HERE = Path(__file__).resolve().parent
TABLE = HERE / "places.txt"
SOUND = "\n" + (HERE.parents[2] / "host/toolgate/src/cli/new/py/plugin.py").read_text()


def cases() -> list[tuple[str, list[str], list[str], list[str]]]:
    """A heading, lines that are taken away (``- ``), put there (``+ ``) and told (``> ``)."""
    found = []
    for block in re.split(r"^## ", TABLE.read_text(), flags=re.MULTILINE)[1:]:
        name, *lines = block.rstrip().split("\n")
        old, put, told = ([line[2:] for line in lines if line.startswith(mark)] for mark in "-+>")
        found.append((name, old, put, told))
    return found


def told(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
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
    assert told(SOUND, tmp_path, monkeypatch) == []


def test_every_mistake_is_told_with_its_place(tmp_path, monkeypatch):
    written = []
    for name, old, put, expected in cases():
        before = "\n".join(["", *old, ""])
        assert SOUND.count(before) == 1, f"{name}: {before}"
        lines = told(SOUND.replace(before, "\n".join(["", *put, ""])), tmp_path, monkeypatch)
        assert any("src/notes.py" in line for line in lines), f"{name}: {lines}"
        if not os.environ.get("UPDATE"):
            assert lines == expected, name
        marked = [f"{mark} {line}".rstrip() for mark, all_of in zip("-+>", (old, put, lines)) for line in all_of]
        written.append("\n".join([f"## {name}", *marked]))
    if os.environ.get("UPDATE"):
        TABLE.write_text("\n\n".join(written) + "\n")
