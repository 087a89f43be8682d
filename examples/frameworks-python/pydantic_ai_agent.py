"""An agent of Pydantic AI with the tools of toolgate. Usage: pydantic_ai_agent.py QUESTION"""

import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from toolgate import Toolgate

provider = OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key=os.environ.get("MODEL_API_KEY", "none"))

with Toolgate() as client:
    agent = Agent(
        OpenAIChatModel(os.environ["MODEL"], provider=provider),
        instructions="Search for a tool, read its schema, then execute it. Give the user every link that a result has.",
        tools=client.toolset("openai").pydantic_ai(),
    )
    print(agent.run_sync(sys.argv[1]).output)
