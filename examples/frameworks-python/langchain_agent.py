"""An agent of LangChain with the tools of toolgate. Usage: langchain_agent.py QUESTION"""

import os
import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from toolgate import Toolgate

with Toolgate() as client:
    agent = create_agent(
        ChatOpenAI(
            model=os.environ["MODEL"],
            base_url=os.environ["MODEL_URL"],
            api_key=os.environ.get("MODEL_API_KEY", "none"),
        ),
        client.toolset("openai").langchain(),
        system_prompt="Search for a tool, read its schema, then execute it. Give the user every link that a result has.",
    )
    said = agent.invoke({"messages": [{"role": "user", "content": sys.argv[1]}]})
    print(said["messages"][-1].content)
