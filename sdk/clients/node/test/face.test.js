/** The client against the document: no operation may be missing, and no text may hold a key. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import { InvalidRequest, InvalidResponse, Toolgate, VERSION, WaitTimeout } from "toolgate";

const KEY = "tg_live_" + "k".repeat(43);
const document = JSON.parse(readFileSync(process.env.TOOLGATE_DOCUMENT, "utf8"));
const installed = fileURLToPath(new URL(".", import.meta.resolve("toolgate")));

test("every operation of the document has a method", () => {
  const documented = Object.entries(document.paths)
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([, operations]) => Object.values(operations).map((operation) => operation.operationId))
    .filter(Boolean)
    // Files go by the language's HTTP library.
    .filter((id) => !["upload_file", "download_file"].includes(id));
  const source = ["client.js", "resources.js", "scripts.js", "triggers.js"].map((name) => readFileSync(installed + name, "utf8")).join();
  const offered = [...source.matchAll(/\b(?:call|answer|pager)\("(\w+)"/g)].map((found) => found[1]);
  assert.ok(documented.length > 30);
  assert.deepEqual([...new Set(offered)].sort(), documented.sort());
});

test("the version is the package's", () => {
  const { version } = JSON.parse(readFileSync(installed + "../package.json", "utf8"));
  assert.equal(VERSION, version);
});

test("a key is in no text of the client", () => {
  const client = new Toolgate({ apiKey: KEY, baseUrl: "http://127.0.0.1:1" });
  for (const text of [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(Object.entries(client)), String(client)]) {
    assert.ok(!text.includes(KEY));
  }
});

test("a key that cannot be sent is refused by an error that does not contain it", () => {
  for (const apiKey of [KEY + "\n", KEY + "\r\nX: y", "tg_live_ \u00e4", " " + KEY, ""]) {
    assert.throws(() => new Toolgate({ apiKey }), (error) => error instanceof TypeError && !error.message.includes("tg_live"));
  }
});

test("an address with more than an origin and a path is refused", () => {
  for (const baseUrl of ["ftp://a", "http://", "http://user:pass@a", "http://a?b=c", "http://a#b", "a:80"]) {
    assert.throws(() => new Toolgate({ apiKey: KEY, baseUrl }), TypeError);
  }
});

test("a value cannot leave its segment of the path", async () => {
  const urls = [];
  const fetch = async (url) => {
    urls.push(url);
    return new Response('{"success":true,"data":{},"meta":{"request_id":"req_1"}}');
  };
  const client = new Toolgate({ apiKey: KEY, baseUrl: "http://127.0.0.1:1/base/", fetch });
  await client.executions.get("../a/b?c#d%2e");
  assert.deepEqual(urls, ["http://127.0.0.1:1/base/v1/executions/..%2Fa%2Fb%3Fc%23d%252e"]);
  for (const bad of ["", ".", ".."]) await assert.rejects(client.executions.get(bad), TypeError);
});

test("a toolset of no tools runs none and sends nothing", async () => {
  const fetch = () => assert.fail("nothing is to be sent");
  const toolset = await new Toolgate({ apiKey: KEY, fetch }).toolset("openai", { tools: [] });
  assert.deepEqual(toolset.definitions, []);
  const result = await toolset.call("execute_tool", { tool_name: "github_delete_repository", arguments: "{}" });
  assert.equal(result.code, "tool_not_found");
});

test("what is not the API's answer is an error", async () => {
  const bodies = ["", "null", "[]", "{}", '{"success":true}', '{"success":true,"data":1}', "\xff", '{"success":false,"error":"x","meta":{"request_id":"r"}}'];
  for (const body of bodies) {
    const client = new Toolgate({ apiKey: KEY, fetch: async () => new Response(body) });
    await assert.rejects(client.status(), InvalidResponse);
  }
  for (const data of [{ status: "new" }, { status: "success" }, { status: "toString" }, [], null]) {
    const body = JSON.stringify({ success: true, data, meta: { request_id: "req_1" } });
    const client = new Toolgate({ apiKey: KEY, fetch: async () => new Response(body) });
    await assert.rejects(client.tools.execute("a_b"), InvalidResponse);
  }
});

test("a text is an answer where the operation has one", async () => {
  const answered = async () => new Response("declare const args: unknown;", { headers: { "content-type": "text/plain; charset=utf-8" } });
  const client = new Toolgate({ apiKey: KEY, fetch: answered });
  assert.equal(await client.scripts.types({ names: ["a_b"] }), "declare const args: unknown;");
  await assert.rejects(client.status(), InvalidResponse);
});

test("the text of an error says what is wrong with the arguments", () => {
  const violations = [{ path: "/text", message: "is required" }, { path: "", message: "has an unknown key" }];
  const refused = new InvalidRequest("the arguments do not fit", { code: "c", request_id: "req_1", details: { violations } });
  assert.equal(refused.message, "c: the arguments do not fit (/text: is required; /: has an unknown key) (req_1)");
  assert.equal(refused.server_message, "the arguments do not fit");
  const many = Array.from({ length: 8 }, (_, n) => ({ path: `/${n}`, message: "is wrong" }));
  assert.ok(new InvalidRequest("no", { details: { violations: many } }).message.includes("/4: is wrong; and 3 more)"));
  for (const details of [{ violations: "x" }, { violations: [1] }, { violations: [] }, {}]) {
    assert.equal(new InvalidRequest("no", { code: "c", details }).message, "c: no");
  }
});

/** A client of a server whose user has one connection to renew. Fills `requests` with bodies by path. */
function renewingClient(requests) {
  const connection = { connection_id: "con_1", user_id: "ada", service: "a", state: "reauth_needed", state_since: "t", scopes: [] };
  const data = {
    "/v1/tools/a_b/execute": { execution_id: "e", tool_name: "a_b", service: "a", session_id: "s", duration_ms: 1, status: "auth_expired", auth_type: "oauth2", message: "m", connect_url: "https://gate/connect/any" },
    "/v1/tools/a_b/schema": { name: "a_b", auth: { type: "oauth2", scopes: ["repo"] } },
    "/v1/connections": { connections: [connection, { ...connection, connection_id: "con_0", state: "revoked" }] },
    "/v1/connections/link": { connect_url: "https://gate/connect/bound", connection_id: "con_1", expires_at: "t" },
  };
  const fetch = async (url, init) => {
    const { pathname } = new URL(url);
    requests[pathname] = init.body && JSON.parse(init.body);
    return new Response(JSON.stringify({ success: true, data: data[pathname], meta: { request_id: "r" } }));
  };
  return new Toolgate({ apiKey: KEY, baseUrl: "http://127.0.0.1:1", fetch, sleep: async () => {} });
}

test("a bound link renews what the call had and is the one that is shown", async () => {
  const [requests, shown] = [{}, []];
  const client = renewingClient(requests);
  const outcome = await client.tools.execute("a_b", {}, { user_id: "ada" });
  const options = { show: (url) => shown.push(url), timeoutMs: 0 };
  await assert.rejects(client.waitForConnection(outcome, { ...options, confirm_url: "https://app.example.com/connected" }), WaitTimeout);
  assert.deepEqual(requests["/v1/connections/link"], { service: "a", user_id: "ada", scopes: ["repo"], connection_id: "con_1", confirm_url: "https://app.example.com/connected" });
  delete requests["/v1/connections/link"];
  await assert.rejects(client.waitForConnection(outcome, { ...options, confirm_url: null }), WaitTimeout);
  assert.deepEqual(shown, ["https://gate/connect/bound", "https://gate/connect/any"]);
  assert.ok(!("/v1/connections/link" in requests));
});

test("a call that does not choose how the user is confirmed is refused", async () => {
  const requests = {};
  const client = renewingClient(requests);
  const outcome = await client.tools.execute("a_b");
  for (const options of [undefined, {}, { confirm_url: undefined }]) {
    await assert.rejects(client.waitForConnection(outcome, options), { name: "TypeError", message: /confirm_url/ });
    await assert.rejects(client.connect("a", options ?? {}), { name: "TypeError", message: /confirm_url/ });
  }
  assert.deepEqual(Object.keys(requests), ["/v1/tools/a_b/execute"]);
});

test("a format that is none, and options that would mean every tool, are refused before anything is sent", async () => {
  const client = new Toolgate({ apiKey: KEY, baseUrl: "http://127.0.0.1:1", maxRetries: 0 });
  for (const format of ["openia", "", "toString", undefined, ["openai"]]) {
    await assert.rejects(client.toolset(format), { name: "TypeError", message: /openai, openai_responses, anthropic, gemini/ });
  }
  for (const options of [["a_b"], "a_b", null, { tool: ["a_b"] }, { tools: "a_b" }, { tools: null }, { tools: [1] }, { userId: "ada" }]) {
    await assert.rejects(client.toolset("openai", options), { name: "TypeError", message: /tools/ });
  }
  const none = await client.toolset("openai", { tools: [], user_id: "ada" });
  assert.deepEqual(none.definitions, []);
});
