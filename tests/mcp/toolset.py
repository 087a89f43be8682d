"""Stays connected to a toolset with the official Python client (package `mcp`, 2.x).

The first argument is a JSON object: `url`, `key` and `mode` (`auto` or `legacy`). Prints one line of JSON
with what was negotiated, then answers lines of JSON: `{"list": true}`, `{"call": NAME, "arguments": {...}}`,
`{"changed": true}`, which waits until the server says that the list has changed, and `{"end": true}`.
"""

import asyncio
import json
import sys

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


def say(message):
    print(json.dumps(message), flush=True)


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"code": error.error.code, "message": error.error.message}
    return {
        "text": "".join(block.text for block in result.content),
        "is_error": bool(result.is_error),
        "structured": result.structured_content,
    }


async def answer(client, changes):
    # No `cache_mode`: the client keeps the list for as long as the server lets it.
    while True:
        asked = json.loads(await asyncio.to_thread(sys.stdin.readline))
        if "list" in asked:
            listed = await client.list_tools()
            tools = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]
            say({"tools": tools, "ttl_ms": listed.ttl_ms, "scope": listed.cache_scope})
        elif "call" in asked:
            say(await call(client, asked["call"], asked["arguments"]))
        elif "changed" in asked:
            say({"changed": await changes.get()})
        else:
            return


async def main(job):
    changes = asyncio.Queue()

    async def hear(message):
        if isinstance(message, types.ToolListChangedNotification):
            await changes.put("notification")

    async def follow(subscription):
        async for _event in subscription:
            await changes.put("event")

    headers = {"Authorization": f"Bearer {job['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        transport = streamable_http_client(job["url"], http_client=http)
        legacy = job["mode"] == "legacy"
        client = Client(transport, mode=job["mode"], message_handler=hear if legacy else None)
        async with client:
            ready = {
                "protocol": client.protocol_version,
                "instructions": client.instructions,
                "title": client.server_info.title if client.server_info else None,
                "list_changed": client.server_capabilities.tools.list_changed,
            }
            if legacy:
                say(ready)
                await answer(client, changes)
                return
            async with client.listen(tools_list_changed=True) as subscription:
                following = asyncio.create_task(follow(subscription))
                say(ready)
                await answer(client, changes)
                following.cancel()


asyncio.run(main(json.loads(sys.argv[1])))
