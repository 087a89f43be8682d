// Connects to a gateway with an official JavaScript client and nothing but its address.
//
// Usage: node sign_in.mjs JOB, a JSON object: `url`, `redirect`, `document` (the address of the client's metadata
// document, or null), `tool` and `arguments` (the call that it makes), `client` (of one that was named, for `package`
// `client` alone), `folder`, which holds node_modules, and `package`: `client` (2.x) or `sdk` (1.x). Speaks as
// sign_in.py does.

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const job = JSON.parse(process.argv[2]);
const require = createRequire(join(job.folder, "package.json"));
const { Client, StreamableHTTPClientTransport, UnauthorizedError, ClientCredentialsProvider, CrossAppAccessProvider } =
  job.package === "sdk"
    ? {
        ...require("@modelcontextprotocol/sdk/client/index.js"),
        ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
        ...require("@modelcontextprotocol/sdk/client/auth.js"),
      }
    : require("@modelcontextprotocol/client");

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (message) => console.log(JSON.stringify(message));
const heard = async () => JSON.parse((await lines.next()).value);

const kept = {};
const person = {
  clientMetadataUrl: job.document ?? undefined,
  redirectUrl: job.redirect,
  clientMetadata: {
    client_name: "Official client",
    redirect_uris: [job.redirect],
    token_endpoint_auth_method: "none",
  },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
  redirectToAuthorization: (url) => say({ open: url.href }),
  invalidateCredentials: (which) => {
    if (which === "all" || which === "tokens") delete kept.tokens;
    if (which === "all" || which === "client") delete kept.client;
  },
};

function named({ id, secret, issuer, assertion }) {
  const known = { clientId: id, clientSecret: secret, expectedIssuer: issuer };
  if (!assertion) return new ClientCredentialsProvider(known);
  const asserted = async ({ authorizationServerUrl, resourceUrl }) => {
    say({ assertion: { audience: String(authorizationServerUrl), resource: String(resourceUrl) } });
    return heard();
  };
  return new CrossAppAccessProvider({ ...known, assertion: asserted });
}
const provider = job.client ? named(job.client) : person;

let client;
let transport;
async function connect() {
  transport = new StreamableHTTPClientTransport(new URL(job.url), { authProvider: provider });
  client = new Client({ name: "toolgate-tests", version: "1" });
  await client.connect(transport);
}

/** Does something; where the client has to sign in first, does so and does it again. */
async function signedIn(step) {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const query = new URL(await heard()).searchParams;
    await (job.package === "sdk" ? transport.finishAuth(query.get("code")) : transport.finishAuth(query));
    await connect();
    return step === connect ? undefined : step();
  }
}

const call = () => client.callTool({ name: job.tool, arguments: job.arguments });
const textOf = (result) => result.content.map((block) => block.text).join("");

await signedIn(connect);
let together = 1;
for (;;) {
  if (together > 1) {
    // Each call finds its token refused, and renews it beside the others.
    const results = await Promise.all(Array.from({ length: together }, call));
    say({ together: results.map(textOf) });
  } else {
    say({ called: textOf(await signedIn(call)) });
  }
  const next = await heard();
  if (next === "end") break;
  // A token that the gateway refuses is renewed before anybody is asked.
  if (next !== "call") kept.tokens = { ...kept.tokens, access_token: "tg_oat_of_yesterday" };
  together = next === "together" ? 4 : 1;
}
await client.close();
process.exit(0);
