/** The Vercel AI SDK itself takes the tools and runs one against the server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as ai from "ai";
import { Toolgate } from "toolgate";

test("the AI SDK runs a chosen tool", async () => {
  const toolset = await new Toolgate().toolset("openai", { tools: ["hackernews_get_item"], user_id: "ada" });
  const tools = toolset.vercel(ai);
  assert.deepEqual(Object.keys(tools), ["hackernews_get_item"]);
  const schema = await ai.asSchema(tools.hackernews_get_item.inputSchema).jsonSchema;
  assert.equal(schema.properties.id.type, "string");
  const executed = await tools.hackernews_get_item.execute({ id: "8863" }, { toolCallId: "1", messages: [] });
  assert.equal(executed.result.title, "Gateways in Rust");
});

test("the AI SDK has a model call a tool and gets the answer", async () => {
  const { MockLanguageModelV4, MockLanguageModelV3 } = await import("ai/test");
  const Mock = MockLanguageModelV4 ?? MockLanguageModelV3;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new Mock({
    doGenerate: async ({ tools }) => {
      assert.deepEqual(tools.map((tool) => tool.name), ["search_tools", "get_tool_schema", "execute_tool"]);
      const input = JSON.stringify({ tool_name: "hackernews_get_item", arguments: '{"id": "8863"}' });
      const content = [{ type: "tool-call", toolCallId: "c1", toolName: "execute_tool", input }];
      return { content, finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage, warnings: [] };
    },
  });
  const toolset = await new Toolgate().toolset("openai", { user_id: "ada" });
  const generated = await ai.generateText({ model, tools: toolset.vercel(ai), prompt: "What is item 8863?" });
  assert.equal(generated.toolResults[0].output.result.title, "Gateways in Rust");
});
