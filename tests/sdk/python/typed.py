"""Checked strictly, not run: the providers' own packages take tools and results as they are, without a cast."""

import anthropic
import google.genai
import openai
import toolgate
from anthropic.types import MessageParam
from google.genai.types import GenerateContentConfigDict
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam


def chat(client: toolgate.Toolgate, model: openai.OpenAI) -> None:
    toolset = client.toolset("openai", ["a_b"], user_id="ada")
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Do it"}]
    answer = model.chat.completions.create(model="any", messages=messages, tools=toolset.definitions)
    messages.extend(toolset.run(answer.choices[0].message))


def responses(client: toolgate.Toolgate, model: openai.OpenAI) -> None:
    toolset = client.toolset("openai_responses")
    said: list[ResponseInputItemParam] = [{"role": "user", "content": "Do it"}]
    answer = model.responses.create(model="any", input=said, tools=toolset.definitions)
    said.extend(toolset.run(answer.output))


def messages(client: toolgate.Toolgate, model: anthropic.Anthropic) -> None:
    toolset = client.toolset("anthropic", on_outcome=lambda call, outcome: print(call.name, outcome.execution_id))
    said: list[MessageParam] = [{"role": "user", "content": "Do it"}]
    answer = model.messages.create(model="any", max_tokens=1, messages=said, tools=toolset.definitions)
    said.append({"role": "user", "content": toolset.run(answer)})


def gemini(client: toolgate.Toolgate, model: google.genai.Client) -> None:
    config: GenerateContentConfigDict = {"tools": [*client.toolset("gemini").definitions]}
    model.models.generate_content(model="any", contents="Do it", config=config)  # pyright: ignore[reportUnknownMemberType]


async def without_waiting(client: toolgate.AsyncToolgate, model: anthropic.AsyncAnthropic) -> None:
    toolset = await client.toolset("anthropic", confirm_url="https://app.example.com/connected")
    answer = await model.messages.create(model="any", max_tokens=1, messages=[], tools=toolset.definitions)
    results = await toolset.run(answer)
    print(results[0]["tool_use_id"])


def any_of_them(client: toolgate.Toolgate, format: toolgate.formats.Format) -> None:
    print(client.toolset(format).definitions)


def wrong(client: toolgate.Toolgate, outcome: toolgate.AuthRequired, model: openai.OpenAI) -> None:
    client.wait_for_connection(outcome)  # type: ignore[call-arg]
    client.connect("github")  # type: ignore[call-arg]
    tools = client.toolset("anthropic").definitions
    model.chat.completions.create(model="any", messages=[], tools=tools)  # type: ignore[arg-type]
