"""The main job over MCP, as an agent does it: search, describe, execute.

Usage: ask.py URL KEY. Fails with what was missing.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url, key):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            found = await ask(client, "svc_search_tools", query="run a promql query")
            assert "**prometheus_query**" in found, found
            schema = await ask(client, "svc_get_tool_schema", tool_name="prometheus_query")
            assert "Required arguments:" in schema, schema
            answer = await ask(
                client,
                "svc_execute_tool",
                tool_name="prometheus_query",
                arguments=json.dumps({"query": 'up{job="self"}'}),
            )
            assert '"resultType":"vector"' in answer.replace(" ", "") and '"self"' in answer, answer
            print(answer)
            new = await ask(client, "svc_search_tools", query="top stories on hacker news")
            assert "hackernews_" in new, new
            print(new)


async def ask(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    text = "".join(block.text for block in result.content)
    assert not result.is_error, text
    return text


asyncio.run(main(*sys.argv[1:]))
