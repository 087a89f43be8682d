"""An agent of LlamaIndex with the tools of toolgate. Usage: llama_index_agent.py QUESTION"""

import asyncio
import os
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from toolgate import AsyncToolgate


async def main(question: str) -> None:
    async with AsyncToolgate() as client:
        toolset = await client.toolset("openai")
        agent = FunctionAgent(
            tools=toolset.llama_index(),
            llm=OpenAILike(
                model=os.environ["MODEL"],
                api_base=os.environ["MODEL_URL"],
                api_key=os.environ.get("MODEL_API_KEY", "none"),
                is_chat_model=True,
                is_function_calling_model=True,
            ),
            system_prompt="Search for a tool, read its schema, then execute it. Give the user every link that a result has.",
        )
        print(await agent.run(user_msg=question))


asyncio.run(main(sys.argv[1]))
