"""An agent of CrewAI with the tools of toolgate. Usage: crewai_agent.py QUESTION"""

import os
import sys

from crewai import LLM, Agent
from toolgate import Toolgate

with Toolgate() as client:
    agent = Agent(
        role="Assistant",
        goal="Answer the question with the tools",
        backstory="You search for a tool, read its schema, then execute it. You give the user every link that a result has.",
        llm=LLM(
            model=f"openai/{os.environ['MODEL']}",
            base_url=os.environ["MODEL_URL"],
            api_key=os.environ.get("MODEL_API_KEY", "none"),
        ),
        tools=client.toolset("openai").crewai(),
    )
    print(agent.kickoff(sys.argv[1]).raw)
