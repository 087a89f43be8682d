"""An agent of the OpenAI Agents SDK with the tools of toolgate. Usage: openai_agents.py QUESTION"""

import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
from toolgate import Toolgate

set_tracing_disabled(True)
server = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key=os.environ.get("MODEL_API_KEY", "none"))

with Toolgate() as client:
    agent = Agent(
        name="Assistant",
        instructions="Search for a tool, read its schema, then execute it. Give the user every link that a result has.",
        model=OpenAIChatCompletionsModel(model=os.environ["MODEL"], openai_client=server),
        tools=client.toolset("openai").openai_agents(),
    )
    print(Runner.run_sync(agent, sys.argv[1]).final_output)
