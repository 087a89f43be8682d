"""A plugin that misbehaves in Python, and tells what it reaches."""

import datetime
import os
import random
import socket
import sys
import time
import urllib.request
from typing import Annotated

from toolgate_plugin import Arg, Context, Plugin, ToolError

plugin = Plugin(
    service="probe_py",
    title="Probe in Python",
    version="1.0.0",
    description="A plugin that tests look through.",
    hosts=["probe.example.com"],
    capabilities=["egress", "kv"],
    limits={"timeout_ms": 20_000},
    auth=[
        {
            "slot": "user",
            "title": "Key",
            "type": "bearer",
            "placement": {"header": "authorization", "template": "Bearer {secret}"},
            "audience": ["https://probe.example.com"],
        }
    ],
)


def attempt(what):
    try:
        return repr(what())
    except Exception as cause:
        return f"refused: {type(cause).__name__}: {cause}"


@plugin.tool(effect="read")
def fetch(cx: Context, url: str):
    """Sends a request with the platform's own client.

    Args:
        url: Address.
    """
    with urllib.request.urlopen(url) as answer:
        return {"status": answer.status, "body": answer.read().decode()}


@plugin.tool(effect="read", auth=[])
def echo(cx: Context, text: str, times: Annotated[int, Arg(min=1, max=3)] = 2):
    """Answers what the call knows.

    Args:
        text: Words.
        times: How often.
    """
    cx.log("info", "echoing")
    print("printed", text)
    calls = (cx.kv_get("calls") or (0, 0))[0] + 1
    cx.kv_set("calls", calls)
    return {
        "text": text * times,
        "calls": calls,
        "now": cx.now_ms(),
        "today": datetime.date.today().year,
        "random": list(cx.random_bytes(4)),
        "differs": random.random(),
    }


@plugin.tool(effect="read", auth=[])
def count(cx: Context, to: Annotated[int, Arg(min=1, max=200)]):
    """Counts, tells each number, and stops when its caller has left.

    Args:
        to: The last number.
    """
    for number in range(1, to + 1):
        if cx.cancelled():
            raise ToolError("cancelled", f"the caller left before {number}")
        cx.progress(number, to, f"number {number}")
        cx.partial({"number": number})
        time.sleep(0.05)
    return {"counted": to}


@plugin.tool(effect="read", auth=[])
def look(cx: Context):
    """Looks for what it must not see."""
    return {
        "environment": attempt(lambda: dict(os.environ)),
        "arguments": attempt(lambda: sys.argv),
        "root": attempt(lambda: os.listdir("/")),
        "passwd": attempt(lambda: open("/etc/passwd").read()),
        "written": attempt(lambda: open("/tmp/probe", "w").write("x")),
        "connected": attempt(lambda: socket.create_connection(("127.0.0.1", 80))),
        "resolved": attempt(lambda: socket.getaddrinfo("example.com", 443)),
        "process": attempt(lambda: os.getpid()),
        "command": attempt(lambda: os.system("id")),
    }


@plugin.tool(effect="read", auth=[])
def socket_behind(cx: Context):
    """Opens a socket behind the library's back."""
    import _socket

    return repr(_socket.socket())


@plugin.tool(effect="read", auth=[])
def loop(cx: Context):
    """Never ends."""
    while True:
        pass


@plugin.tool(effect="read", auth=[])
def hoard(cx: Context):
    """Keeps all memory it can get."""
    kept = []
    try:
        while True:
            kept.append(b"x" * (1 << 20))
    except MemoryError:
        os.abort()


@plugin.tool(effect="read", auth=[])
def wait(cx: Context):
    """Waits much longer than a call may."""
    time.sleep(3600)


@plugin.tool(effect="read", auth=[])
def dive(cx: Context):
    """Calls itself without end."""

    def deeper(n):
        return deeper(n + 1) + 1

    return deeper(0)


@plugin.tool(effect="read", auth=[])
def fail(cx: Context):
    """Fails by mistake."""
    return None.nothing
