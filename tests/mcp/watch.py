"""Calls one tool with the official Python client (package `mcp`, 2.x) and hears of its progress.

Usage: watch.py JOB, a JSON object: `url`, `key`, `mode`, `name`, `arguments` and `cancel_after`, the number of
notifications after which the call is taken back, or null. Prints one JSON object: `progress`, and `text` or
`error`.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def watch(job):
    progress = []
    enough = asyncio.Event()

    async def hear(done, total, message):
        progress.append({"progress": done, "total": total, "message": message})
        if len(progress) == job["cancel_after"]:
            enough.set()

    headers = {"Authorization": f"Bearer {job['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        server = streamable_http_client(job["url"], http_client=http)
        async with Client(server, mode=job["mode"]) as client:
            calling = asyncio.create_task(
                client.call_tool(job["name"], job["arguments"], progress_callback=hear)
            )
            stopping = asyncio.create_task(enough.wait())
            await asyncio.wait({calling, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if not calling.done():
                calling.cancel()
                await asyncio.wait({calling})
                return {"progress": progress, "error": "cancelled"}
            result = calling.result()
            return {"progress": progress, "text": "".join(block.text for block in result.content)}


print(json.dumps(asyncio.run(watch(json.loads(sys.argv[1])))))
