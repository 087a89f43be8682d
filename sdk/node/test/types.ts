/** Compiled, not run: what the types let through and what they do not. */

import { Toolgate, type api, type Outcome } from "toolgate";

const client = new Toolgate();

export async function looked(): Promise<unknown> {
  const outcome: Outcome = await client.tools.execute("a_b", { id: "1", nested: { n: 1 } }, { user_id: "ada", dry_run: true });
  // @ts-expect-error: a result is there only for who has looked.
  outcome.result;
  // @ts-expect-error: there is no such option.
  await client.tools.execute("a_b", {}, { userId: "ada" });
  // @ts-expect-error: nor such a value.
  await client.permissions.setTool("ada", "a_b", "perhaps");
  for await (const tool of client.tools.list({ service: "a" })) {
    const listed: api.ListedTool = tool;
    listed.name.toUpperCase();
  }
  return outcome.status === "success" ? outcome.result : outcome.status;
}

export async function handed(): Promise<void> {
  const ai = await import("ai");
  const toolset = await client.toolset("openai", { tools: ["a_b"] });
  toolset.vercel(ai);
}
