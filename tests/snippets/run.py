"""Runs a block of the guide that awaits at its top level: run.py FILE, with `key` in it and the scripted model."""

import ast
import asyncio
import inspect
import os
import sys


def prepare() -> None:
    """Lets the packages that are here use the model's server of the test, and tell nobody else."""
    try:
        import agents
        from openai import AsyncOpenAI
    except ImportError:
        return
    agents.set_tracing_disabled(True)
    agents.set_default_openai_api("chat_completions")
    server = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key=os.environ["MODEL_API_KEY"])
    agents.set_default_openai_client(server, use_for_tracing=False)


prepare()
with open(sys.argv[1], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[1], "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
running = eval(code, {"key": os.environ["TOOLGATE_API_KEY"]})
if inspect.iscoroutine(running):
    asyncio.run(running)
