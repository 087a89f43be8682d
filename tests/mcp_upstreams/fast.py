"""An MCP server by FastMCP for Python. Arguments: the port. Listens at /mcp."""

import sys

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("fast-python", version="2.0.1")


@server.tool(annotations={"readOnlyHint": True})
def word_count(text: str, ignore: list[str] | None = None) -> dict[str, int]:
    """Counts how often each word of a text occurs."""
    counts: dict[str, int] = {}
    for word in text.lower().split():
        if word not in (ignore or []):
            counts[word] = counts.get(word, 0) + 1
    return counts


@server.tool
def divide(a: float, b: float) -> float:
    """Divides one number by another."""
    if b == 0:
        raise ToolError("a number cannot be divided by zero")
    return a / b


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp", show_banner=False)
