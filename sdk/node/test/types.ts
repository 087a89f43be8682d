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
  if (outcome.status === "auth_required") {
    // @ts-expect-error: who confirms the user has to be said.
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

export async function handed(): Promise<void> {
  const ai = await import("ai");
  const toolset = await client.toolset("openai", { tools: ["a_b"] });
  toolset.vercel(ai);
}
