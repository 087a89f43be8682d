"""An agent: a language model that works with the tools of toolgate over MCP.

Usage: agent.py QUESTION. The README names the environment variables.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

STEPS_MAX = 12
INSTRUCTIONS = (
    "Answer the user's question with the tools. Search for a tool, read its schema, then execute it. "
    "If a result asks for a connection, give the user the link and stop."
)


async def main(question: str) -> None:
    gateway_url = os.environ.get("TOOLGATE_URL", "http://127.0.0.1:8080")
    # Two HTTP clients: the gateway's key must not reach the model's server.
    async with (
        httpx2.AsyncClient(headers=bearer(os.environ["TOOLGATE_API_KEY"]), timeout=60) as http,
        httpx2.AsyncClient(headers=bearer(os.environ.get("MODEL_API_KEY")), timeout=300) as model,
        Client(streamable_http_client(f"{gateway_url}/mcp", http_client=http)) as gateway,
    ):
        listed = await gateway.list_tools()
        functions = [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in listed.tools
        ]
        messages = [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": question},
        ]
        for _ in range(STEPS_MAX):
            message = await complete(model, messages, functions)
            messages.append(message)
            calls = message.get("tool_calls") or []
            if not calls:
                print(message["content"])
                return
            for call in calls:
                result = await run(gateway, call["function"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        sys.exit(f"The model gave no answer within {STEPS_MAX} steps.")


async def complete(model: httpx2.AsyncClient, messages: list[dict], functions: list[dict]) -> dict:
    """The model's next message."""
    answer = await model.post(
        os.environ["MODEL_URL"] + "/chat/completions",
        json={
            "model": os.environ["MODEL"],
            "messages": messages,
            "tools": [{"type": "function", "function": function} for function in functions],
        },
    )
    answer.raise_for_status()
    return answer.json()["choices"][0]["message"]


async def run(gateway: Client, function: dict) -> str:
    """The text of the tool's result. A failure is text too: the model reads it and tries again."""
    print(f"{function['name']} {function['arguments']}", file=sys.stderr)
    try:
        arguments = json.loads(function["arguments"])
    except ValueError as error:
        return f"The arguments are not JSON: {error}"
    result = await gateway.call_tool(function["name"], arguments)
    return "".join(block.text for block in result.content if block.type == "text")


def bearer(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: agent.py QUESTION")
    asyncio.run(main(sys.argv[1]))
