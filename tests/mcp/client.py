"""Speaks to a gateway with the official Python client (package `mcp`, 2.x).

Reads one JSON object from standard input: `url`, `key`, `mode` (`auto`, `legacy` or a protocol
revision), `opens_urls` and `calls`, a list of `{name, arguments}`; with `command` it starts that
program instead of asking `url`. Prints one JSON object: what was
negotiated, the tools, a result for each call and the addresses the server wanted opened.
"""

import asyncio
import json
import os
import sys

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def converse(job):
    opened = []

    async def open_url(_context, asked):
        opened.append(asked.url)
        return types.ElicitResult(action="accept")

    headers = {"Authorization": f"Bearer {job['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        if job["command"]:
            program, *arguments = job["command"]
            env = {**os.environ, "TOOLGATE_API_KEY": job["key"]}
            server = StdioServerParameters(command=program, args=arguments, env=env)
        else:
            server = streamable_http_client(job["url"], http_client=http)
        client = Client(
            server,
            mode=job["mode"],
            elicitation_callback=open_url if job["opens_urls"] else None,
        )
        async with client:
            listed = await client.list_tools()
            return {
                "protocol": client.protocol_version,
                "tools": [tool.name for tool in listed.tools],
                "results": [await call(client, **asked) for asked in job["calls"]],
                "opened": opened,
                "skills": [],
            }


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"code": error.error.code, "message": error.error.message}
    assert result.structured_content is None
    return {
        "text": "".join(block.text for block in result.content),
        "is_error": bool(result.is_error),
    }


print(json.dumps(asyncio.run(converse(json.load(sys.stdin)))))
