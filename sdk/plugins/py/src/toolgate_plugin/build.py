"""Makes a component of a plugin: ``toolgate-plugin-build src/notes.py -o notes.wasm``.

The module is read once here for its manifest. The component is made for a world with just the imports that
the manifest's capabilities name, and carries the manifest in the custom section ``toolgate:manifest``. What
CPython's library imports of WASI comes with it; the gateway answers with clocks and randomness, an empty file
system and an empty environment, and sockets trap.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
from pathlib import Path

from .plugin import Plugin

SECTION = "toolgate:manifest"
CAPABILITIES = ("egress", "kv")


def build(source: Path) -> tuple[bytes, Plugin]:
    """The component of the one ``Plugin`` in the module at ``source``."""
    plugin = read(source)
    capabilities = plugin.manifest["capabilities"]
    manifest = plugin.manifest_json()
    with tempfile.TemporaryDirectory(prefix="toolgate-py-") as name:
        folder = Path(name)
        (folder / "wit").mkdir()
        (folder / "wit" / "toolgate.wit").write_text(world(contract(), capabilities))
        (folder / "toolgate_entry.py").write_text(
            f"import {source.stem} as module\n"
            "from toolgate_plugin import guest, Plugin\n"
            "plugin = next(one for one in vars(module).values() if isinstance(one, Plugin))\n"
            f"Integration = guest.bind(plugin, {manifest!r})\n"
        )
        component = folder / "plugin.wasm"
        own = Path(__file__).resolve().parent.parent
        paths = [folder, source.resolve().parent, own, *map(Path, project_packages())]
        tool = Path(sysconfig.get_path("scripts")) / "componentize-py"
        made = subprocess.run(
            [
                str(tool if tool.exists() else "componentize-py"),
                *("--quiet", "--wit-path", str(folder / "wit"), "--world", "authored"),
                *("componentize", "toolgate_entry", "--output", str(component)),
                *(argument for path in paths for argument in ("--python-path", str(path))),
            ],
            capture_output=True,
            text=True,
            env={key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")},
        )
        if made.returncode != 0:
            raise SystemExit(f"componentize-py failed:\n{made.stderr or made.stdout}")
        return with_section(component.read_bytes(), manifest), plugin


def project_packages() -> list[str]:
    """Where the plugin's own dependencies are: a folder ``packages`` that ``pip install --target`` filled."""
    return ["packages"] if Path("packages").is_dir() else []


def read(source: Path) -> Plugin:
    sys.path.insert(0, str(source.resolve().parent))
    spec = importlib.util.spec_from_file_location(source.stem, source)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{source} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[source.stem] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as cause:
        place = source if cause.filename in (None, str(source.resolve()), str(source)) else cause.filename
        raise SystemExit(f"{place}:{cause.lineno}: {cause.msg}") from cause
    except Exception as cause:
        raise SystemExit(f"{own_place(cause, source)}: {cause}") from cause
    found = [one for one in vars(module).values() if isinstance(one, Plugin)]
    if len(found) != 1:
        raise SystemExit(f"{source}: it holds {len(found)} plugins; write one `plugin = Plugin(...)`")
    if not found[0].tools:
        raise SystemExit(f'{source}: the plugin has no tool; write one with `@plugin.tool(effect="read")`')
    if unknown := [name for name in found[0].manifest["capabilities"] if name not in CAPABILITIES]:
        raise SystemExit(f"{source}: the capability `{unknown[0]}` is not one of {', '.join(CAPABILITIES)}")
    return found[0]


def own_place(cause: Exception, source: Path) -> str:
    """The innermost line of the author's own module that led to an error."""
    frames = traceback.extract_tb(cause.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == source.resolve()]
    return f"{source}:{lines[-1]}" if lines else str(source)


def contract() -> str:
    """``wit/toolgate.wit`` of this package, or of the repository that contains it."""
    here = Path(__file__).resolve()
    places = [here.parent / "wit" / "toolgate.wit", *(up / "wit" / "toolgate.wit" for up in here.parents)]
    found = next((place for place in places if place.exists()), None)
    if found is None:
        raise SystemExit("wit/toolgate.wit is missing from the package toolgate-plugin")
    return found.read_text()


def world(wit: str, capabilities: list[str]) -> str:
    """The contract with a world of just these imports. ``blobs`` has only its type: requests name it."""
    bare = re.sub(r"(interface blobs \{).*?\n\}", r"\1\n    resource blob;\n}", wit, flags=re.DOTALL)
    imports = "".join(f"    import {name};\n" for name in ("call", *capabilities))
    return f"{bare}\nworld authored {{\n{imports}    export integration;\n}}\n"


def with_section(component: bytes, text: str) -> bytes:
    """A WebAssembly file with one more custom section at its end."""
    name = SECTION.encode()
    body = _leb(len(name)) + name + text.encode()
    return component + b"\0" + _leb(len(body)) + body


def _leb(number: int) -> bytes:
    out = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        out.append(byte | 0x80 if number else byte)
        if not number:
            return bytes(out)


def main() -> None:
    parser = argparse.ArgumentParser(prog="toolgate-plugin-build", description="Makes a component of a plugin.")
    parser.add_argument("source", type=Path, help="the module that holds the plugin")
    parser.add_argument("-o", "--output", type=Path, help="where it goes [default: SERVICE.wasm]")
    options = parser.parse_args()
    started = time.monotonic()
    component, plugin = build(options.source)
    file = options.output or Path(f"{plugin.manifest['service']}.wasm")
    file.parent.mkdir(parents=True, exist_ok=True)
    # Renamed into place: a gateway that watches the folder never sees half a file.
    part = file.with_name(file.name + ".part")
    part.write_bytes(component)
    part.replace(file)
    seconds = time.monotonic() - started
    print(f"{file}: {len(plugin.tools)} tools, {len(component) / 1e6:.1f} MB, {seconds:.1f} s")


if __name__ == "__main__":
    main()
