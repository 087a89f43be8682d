"""Has the packages of OpenAI, Anthropic, Google and LangChain read what the client makes of every tool that ships."""

import asyncio
import json
import os
import pathlib

import anthropic.types
import google.genai.types
import openai.types.chat
import openai.types.responses
from pydantic import TypeAdapter

import toolgate
from toolgate import dialects, formats

CATALOG = json.loads(pathlib.Path(os.environ["TOOLGATE_CATALOG"]).read_text())
assert len(CATALOG) > 2_000


def made(format):
    for tool in CATALOG:
        schema = dialects.lower(tool["inputSchema"], formats.DIALECT_OF[format]).schema
        yield formats.definition(format, dialects.name(tool["name"]), tool["description"], schema)


chat = TypeAdapter(openai.types.chat.ChatCompletionToolParam)
for definition in made("openai"):
    assert chat.validate_python(definition) == definition, definition
responses = TypeAdapter(openai.types.responses.FunctionToolParam)
for definition in made("openai_responses"):
    assert responses.validate_python(definition) == definition, definition
messages = TypeAdapter(anthropic.types.ToolParam)
for definition in made("anthropic"):
    assert messages.validate_python(definition) == definition, definition
# This one refuses every word that is not Google's.
for definition in made("gemini"):
    google.genai.types.FunctionDeclaration.model_validate(definition)
google.genai.types.Tool.model_validate(formats.definitions("gemini", list(made("gemini")))[0])

# Providers' own objects are read as dicts are.
message = openai.types.chat.ChatCompletionMessage.model_validate(
    {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "a_b", "arguments": '{"x": 1}'}}]}
)
assert formats.calls("openai", message) == [formats.Call("c", "a_b", {"x": 1})]
block = anthropic.types.ToolUseBlock.model_validate({"type": "tool_use", "id": "t", "name": "a_b", "input": {"x": 1}})
assert formats.calls("anthropic", [block]) == [formats.Call("t", "a_b", {"x": 1})]
part = google.genai.types.Part.model_validate({"functionCall": {"name": "a_b", "args": {"x": 1}}})
assert formats.calls("gemini", [part]) == [formats.Call("", "a_b", {"x": 1})]
for call, format, kind in [
    (formats.Call("c", "a_b", {}), "openai", openai.types.chat.ChatCompletionToolMessageParam),
    (formats.Call("c", "a_b", {}), "anthropic", anthropic.types.ToolResultBlockParam),
]:
    result = formats.result(format, call, formats.ModelResult({"status": "success"}))
    assert TypeAdapter(kind).validate_python(result) == result
google.genai.types.Part.model_validate(formats.result("gemini", formats.Call("", "a_b", {}), formats.ModelResult({"a": 1})))

# LangChain runs a tool against the server.
with toolgate.Toolgate() as client:
    (tool,) = client.toolset("openai", ["hackernews_get_item"], user_id="ada").langchain()
    assert tool.name == "hackernews_get_item" and "id" in tool.args, tool.args
    told = tool.invoke({"id": "8863"})
    assert told["result"]["title"] == "Gateways in Rust", told


async def run_in_langchain():
    async with toolgate.AsyncToolgate() as client:
        (tool,) = (await client.toolset("openai", ["hackernews_get_item"], user_id="ada")).langchain()
        return await tool.ainvoke({"id": "8863"})


told = asyncio.run(run_in_langchain())
assert told["result"]["title"] == "Gateways in Rust", told
print(f"providers: {len(CATALOG)} tools")
