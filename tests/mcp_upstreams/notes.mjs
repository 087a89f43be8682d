// An MCP server with an account for each user: notes behind OAuth, by the official TypeScript SDK. The authorization
// server is that of the SDK: metadata, dynamic registration, PKCE, revocation. Who signs in is who the header `x-login`
// of the authorization request names, in place of a page with a form.
// Arguments: the folder of the packages, the public origin. Prints its port. GET /test/seen answers every header
// `authorization` that arrived at /mcp; POST /test/token?user=... answers a token without a sign-in; POST /test/expire
// ends all access tokens, POST /test/forget the renewals too; POST /test/forget-clients ends all registrations; POST /test/words?text=... changes the description of a
// tool; POST /test/remove takes a tool away; POST /test/need?scope=... has the endpoint ask for that scope from now on.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , folder, origin] = process.argv;
const from = createRequire(`${folder}/`);
const load = (name) => import(pathToFileURL(from.resolve(name)));
const { default: express } = await load('express');
const { z } = await load('zod');
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js');
const { mcpAuthRouter, getOAuthProtectedResourceMetadataUrl } = await load('@modelcontextprotocol/sdk/server/auth/router.js');
const { requireBearerAuth } = await load('@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js');
const { InvalidGrantError, InvalidTargetError, InvalidTokenError } = await load('@modelcontextprotocol/sdk/server/auth/errors.js');

const resource = new URL('/mcp', origin);
const clients = new Map();
const codes = new Map();
const access = new Map();
const refresh = new Map();
const notes = new Map();
const seen = [];
let words = 'Adds a note to the notes of the user.';
let removed = false;
let needed;

const issue = (client, user, scopes) => {
  const token = `at-${randomUUID()}`;
  const renewal = `rt-${randomUUID()}`;
  access.set(token, { clientId: client.client_id, user, scopes, expiresAt: Math.floor(Date.now() / 1000) + 3600 });
  refresh.set(renewal, { clientId: client.client_id, user, scopes });
  return { access_token: token, refresh_token: renewal, token_type: 'bearer', expires_in: 3600, scope: scopes.join(' ') };
};
// A request for a token without the resource, or with another, is none of this server's (RFC 8707).
const forThisServer = (asked) => {
  if (asked?.href !== resource.href) throw new (InvalidTargetError ?? InvalidGrantError)(`resource ${asked?.href}`);
};
const provider = {
  clientsStore: {
    getClient: (id) => clients.get(id),
    registerClient: (client) => { clients.set(client.client_id, client); return client; },
  },
  async authorize(client, params, response) {
    forThisServer(params.resource);
    const user = response.req.headers['x-login'];
    if (!user) { response.status(401).send('sign in'); return; }
    const code = randomUUID();
    codes.set(code, { client, params, user });
    const back = new URL(params.redirectUri);
    back.searchParams.set('code', code);
    if (params.state !== undefined) back.searchParams.set('state', params.state);
    response.redirect(back.href);
  },
  async challengeForAuthorizationCode(_, code) {
    if (!codes.has(code)) throw new InvalidGrantError('no such code');
    return codes.get(code).params.codeChallenge;
  },
  async exchangeAuthorizationCode(client, code, _verifier, _redirect, asked) {
    const { user, params, client: owner } = codes.get(code) ?? {};
    if (owner?.client_id !== client.client_id) throw new InvalidGrantError('no such code');
    forThisServer(asked);
    codes.delete(code);
    return issue(client, user, params.scopes ?? []);
  },
  async exchangeRefreshToken(client, token, _scopes, asked) {
    const known = refresh.get(token);
    if (known?.clientId !== client.client_id) throw new InvalidGrantError('no such token');
    forThisServer(asked);
    refresh.delete(token);
    return issue(client, known.user, known.scopes);
  },
  async verifyAccessToken(token) {
    const known = access.get(token);
    if (!known) throw new InvalidTokenError('no such token');
    return { token, ...known, extra: { user: known.user } };
  },
  async revokeToken(_, { token }) { access.delete(token); refresh.delete(token); },
};

const server = (user) => {
  const made = new McpServer({ name: 'notes', version: '1.2.0' });
  const own = () => notes.get(user) ?? [];
  made.registerTool('addNote', {
    description: words,
    inputSchema: { text: z.string().min(1).describe('The text of the note.') },
    annotations: { destructiveHint: false },
  }, async ({ text }) => {
    notes.set(user, [...own(), text]);
    return { content: [{ type: 'text', text: `${own().length} notes` }] };
  });
  if (!removed) made.registerTool('listNotes', {
    description: 'Lists the notes of the user.',
    outputSchema: { user: z.string(), notes: z.array(z.string()) },
    annotations: { readOnlyHint: true },
  }, async () => ({
    content: [{ type: 'text', text: own().join('\n') }],
    structuredContent: { user, notes: own() },
  }));
  return made;
};

const app = express();
app.set('trust proxy', true);
app.get('/test/seen', (_, response) => response.json(seen));
app.post('/test/token', (request, response) => response.json(issue({ client_id: 'test' }, request.query.user, []).access_token));
app.post('/test/need', (request, response) => { needed = request.query.scope; response.json({}); });
app.post('/test/remove', (_, response) => { removed = true; response.json({}); });
app.post('/test/expire', (_, response) => { access.clear(); response.json({}); });
app.post('/test/forget', (_, response) => { access.clear(); refresh.clear(); response.json({}); });
app.post('/test/forget-clients', (_, response) => { clients.clear(); response.json({}); });
app.post('/test/words', (request, response) => { words = request.query.text; response.json({}); });
app.use(mcpAuthRouter({
  provider, issuerUrl: new URL(origin), resourceServerUrl: resource, scopesSupported: ['notes'],
}));
app.post('/mcp', (request, _, next) => { seen.push(request.headers.authorization ?? ''); next(); });
const signedIn = requireBearerAuth({
  verifier: provider, requiredScopes: [], resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
});
const sessions = new Map();
const inScope = (request, response, next) => {
  if (!needed || request.auth.scopes.includes(needed)) return next();
  response.status(403).set('www-authenticate', `Bearer error="insufficient_scope", scope="${needed}"`).json({ error: 'insufficient_scope' });
};
app.all('/mcp', signedIn, inScope, express.json({ limit: '4mb' }), async (request, response) => {
  const { user } = request.auth.extra;
  const id = request.headers['mcp-session-id'];
  const known = id && sessions.get(id);
  if (id && known?.user !== user) { response.status(404).json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no such session' } }); return; }
  let transport = known?.transport;
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (made) => sessions.set(made, { user, transport }),
      onsessionclosed: (ended) => sessions.delete(ended),
    });
    await server(user).connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});
const listening = app.listen(0, '127.0.0.1', () => console.log(listening.address().port));
