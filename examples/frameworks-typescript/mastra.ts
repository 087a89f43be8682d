// An agent of Mastra with the tools of toolgate. Usage: mastra.ts QUESTION
import { Agent } from "@mastra/core/agent";
import * as tools from "@mastra/core/tools";
import { Toolgate } from "toolgate";

const { MODEL, MODEL_URL, MODEL_API_KEY = "none" } = process.env;
if (!MODEL || !MODEL_URL || !process.argv[2]) throw new Error("set MODEL and MODEL_URL, and ask a question");

const toolset = await new Toolgate().toolset("openai");
const agent = new Agent({
  id: "assistant",
  name: "Assistant",
  instructions: "Search for a tool, read its schema, then execute it. Give the user every link that a result has.",
  model: { id: `model/${MODEL}`, url: MODEL_URL, apiKey: MODEL_API_KEY },
  tools: toolset.mastra(tools),
});
const { text } = await agent.generate(process.argv[2]);
console.log(text);
