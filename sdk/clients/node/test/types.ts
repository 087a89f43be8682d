/** Compiled, not run: what the types accept and what they refuse. */

import type Anthropic from "@anthropic-ai/sdk";
import * as ai from "ai";
import type OpenAI from "openai";
import { Toolgate, type api, type Outcome } from "toolgate";

const client = new Toolgate();

export async function outcomes(): Promise<unknown> {
  const outcome: Outcome = await client.tools.execute("a_b", { id: "1", nested: { n: 1 } }, { user_id: "ada", dry_run: true });
  // @ts-expect-error: a result exists only after `status` was checked.
  outcome.result;
  // @ts-expect-error: there is no such option.
  await client.tools.execute("a_b", {}, { userId: "ada" });
  // @ts-expect-error: nor such a value.
  await client.permissions.setTool("ada", "a_b", "perhaps");
  if (outcome.status === "auth_required") {
    // @ts-expect-error: who confirms the user has to be chosen.
    await client.waitForConnection(outcome, {});
    // @ts-expect-error: likewise.
    await client.connect("github", { user_id: "ada" });
    await client.waitForConnection(outcome, { confirm_url: null });
    const connection: api.ConnectionInfo = await client.connect("github", { confirm_url: "https://app.example.com/connected", user_id: "ada" });
    connection.state satisfies string;
  }
  for await (const tool of client.tools.list({ service: "a" })) {
    const listed: api.ListedTool = tool;
    listed.name.toUpperCase();
  }
  return outcome.status === "success" ? outcome.result : outcome.status;
}

/** Each provider's own package takes the tools and the results as they are, without a cast. */
export async function providers(openai: OpenAI, anthropic: Anthropic): Promise<void> {
  const chosen = { tools: ["a_b"] };

  // @ts-expect-error: the names stand under `tools`.
  await client.toolset("openai", ["a_b"]);
  // @ts-expect-error: there is no such format.
  await client.toolset("openia");
  const chat = await client.toolset("openai", chosen);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Do it" }];
  const completion = await openai.chat.completions.create({ model: "any", messages, tools: chat.definitions });
  const reply = completion.choices[0]?.message;
  if (reply) messages.push(reply, ...(await chat.run(reply)));

  const responses = await client.toolset("openai_responses", chosen);
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Do it" }];
  const response = await openai.responses.create({ model: "any", input, tools: responses.definitions });
  input.push(...(await responses.run(response)));

  const blocks = await client.toolset("anthropic", chosen);
  const turns: Anthropic.MessageParam[] = [{ role: "user", content: "Do it" }];
  const message = await anthropic.messages.create({ model: "any", max_tokens: 1, messages: turns, tools: blocks.definitions });
  turns.push({ role: "assistant", content: message.content }, { role: "user", content: await blocks.run(message) });

  const { name } = (await client.toolset("anthropic")).definitions[0] ?? { name: "" };
  name.toUpperCase();
  // @ts-expect-error: one provider's tools are not another's.
  await openai.chat.completions.create({ model: "any", messages, tools: blocks.definitions });
}

export async function vercel(model: ai.LanguageModel): Promise<void> {
  const tools = (await client.toolset("openai", { tools: ["a_b"] })).vercel(ai);
  const { text } = await ai.generateText({ model, tools, prompt: "Do it" });
  text.toUpperCase();
}
