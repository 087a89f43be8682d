#!/usr/bin/env python3
"""Writes src/toolgate/_sync from src/toolgate/_async, which is the one that is edited."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent / "src/toolgate"
WORDS = [
    (r"\A\"\"\"(.+) for asyncio\.", r'"""\1.'),
    (r"\A\"\"\"(.+)\.(?=\n|\"\"\")", r'"""\1. Made from `_async` by make_sync.py; do not edit.'),
    (r"coroutine=run", "func=run"),
    (r"\bimport asyncio\n", ""),
    (r"asyncio\.sleep", "time.sleep"),
    (r"Callable\[\[float\], Awaitable\[None\]\]", "Callable[[float], None]"),
    (r"Callable\[\.\.\., Awaitable\[Any\]\]", "Callable[..., Any]"),
    (r"AsyncIterator, Awaitable, ", "Iterator, "),
    (r"AsyncIterator, Callable", "Callable, Iterator"),
    (r"Iterator, Callable", "Callable, Iterator"),
    (r"AsyncIterator", "Iterator"),
    (r"\bawait ", ""),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"__a(enter|exit|iter)__", r"__\1__"),
    (r"\baiter_bytes", "iter_bytes"),
    (r"\baclose", "close"),
    (r"httpx\.AsyncClient", "httpx.Client"),
    (r"\bAsync(?=[A-Z])", ""),
]


def written():
    for source in sorted((ROOT / "_async").glob("*.py")):
        text = source.read_text()
        for pattern, replacement in WORDS:
            text = re.sub(pattern, replacement, text)
        yield ROOT / "_sync" / source.name, text


def main():
    stale = [path for path, text in written() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        sys.exit(f"stale: {', '.join(path.name for path in stale)}: run make_sync.py" if stale else 0)
    for path, text in written():
        path.write_text(text)


if __name__ == "__main__":
    main()
