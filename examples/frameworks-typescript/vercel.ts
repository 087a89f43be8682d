// An agent with the Vercel AI SDK and the tools of toolgate. Usage: vercel.ts QUESTION
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import { Toolgate } from "toolgate";

const { MODEL, MODEL_URL, MODEL_API_KEY = "none" } = process.env;
if (!MODEL || !MODEL_URL || !process.argv[2]) throw new Error("set MODEL and MODEL_URL, and ask a question");

const toolset = await new Toolgate().toolset("openai");
const { text } = await ai.generateText({
  model: createOpenAICompatible({ name: "model", baseURL: MODEL_URL, apiKey: MODEL_API_KEY })(MODEL),
  system: "Search for a tool, read its schema, then execute it. Give the user every link that a result has.",
  prompt: process.argv[2],
  tools: toolset.vercel(ai),
  stopWhen: ai.stepCountIs(12),
});
console.log(text);
