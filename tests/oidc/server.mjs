// The certified authorization server (npm oidc-provider) with the addresses of GitHub, short access
// tokens, refresh rotation and revocation, and one API behind it: GET /user.
// Prints its port, reads one JSON line {redirect_uri, access_token_s, sign_in}, prints `ready`.
// With `sign_in` it is what members sign in with: under another site's name than 127.0.0.1, with the
// methods that its description names, and with addresses. Who logs in as `unproven X` has the
// address X, but has not proven it. POST /test/groups {login, groups} puts somebody into groups, which its user
// info tells. A second client, `the-agent`, exchanges ID tokens for identity assertions (ID-JAG, RFC 8693), which
// the provider signs with the key that it publishes.
import http from 'node:http';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';

const from = createRequire(`${process.argv[2]}/`);
const { default: Provider, errors } = await import(pathToFileURL(from.resolve('oidc-provider')));
const { SignJWT, createLocalJWKSet, exportJWK, generateKeyPair, importJWK, jwtVerify } = await import(pathToFileURL(from.resolve('jose')));

let handler;
const server = http.createServer((request, response) => handler(request, response));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
console.log(server.address().port);

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const asked = JSON.parse((await lines.next()).value);

const issuer = `http://${asked.sign_in ? 'localhost' : '127.0.0.1'}:${server.address().port}`;

const pair = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(pair.privateKey)), kid: 'company', alg: 'ES256', use: 'sig' };
const { d, ...published } = jwk;
const groups = new Map();
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

const provider = new Provider(issuer, {
  clients: [...(asked.sign_in ? [{
    client_id: 'the-agent',
    client_secret: 'the-agent-secret',
    redirect_uris: ['http://127.0.0.1:5555/callback'],
    grant_types: ['authorization_code', 'refresh_token', EXCHANGE],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
    id_token_signed_response_alg: 'ES256',
  }] : []), {
    client_id: 'the-client',
    client_secret: 'the-client-secret',
    redirect_uris: [asked.redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: asked.sign_in ? 'client_secret_basic' : 'client_secret_post',
    id_token_signed_response_alg: 'ES256',
  }],
  scopes: ['openid', 'offline_access', 'email', 'profile', 'groups', 'repo', 'read:user'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
  routes: {
    authorization: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    revocation: '/login/oauth/revoke',
  },
  features: {
    devInteractions: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
  },
  pkce: { required: () => true },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  ttl: {
    AccessToken: asked.access_token_s, AuthorizationCode: 60, RefreshToken: 3600,
    Grant: 3600, Interaction: 600, Session: 600, IdToken: asked.sign_in ? 7200 : 60,
  },
  cookies: { keys: ['only for this run'] },
  jwks: { keys: [jwk] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id, email: id.replace(/^unproven /, ''), email_verified: !id.startsWith('unproven '),
      ...(groups.has(id) && { groups: groups.get(id) }),
    }),
  }),
});

// The company's decision: its people may use the agent with whatever server the agent names.
provider.registerGrantType(EXCHANGE, async (ctx) => {
  const { params, client } = ctx.oidc;
  if (params.requested_token_type !== ID_JAG) throw new errors.InvalidRequest('requested_token_type');
  const keys = createLocalJWKSet({ keys: [published] });
  const subject = await jwtVerify(params.subject_token, keys, { issuer, audience: client.clientId }).catch(() => null);
  if (!subject) throw new errors.InvalidGrant('subject_token');
  const assertion = await new SignJWT({
    client_id: params.client_at_audience, resource: params.resource, scope: params.scope, email: subject.payload.sub,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'company', typ: 'oauth-id-jag+jwt' })
    .setIssuer(issuer).setSubject(subject.payload.sub).setAudience(params.audience)
    .setIssuedAt().setExpirationTime('5m').setJti(crypto.randomUUID())
    .sign(await importJWK(jwk, 'ES256'));
  ctx.body = { issued_token_type: ID_JAG, access_token: assertion, token_type: 'N_A', expires_in: 300 };
}, ['requested_token_type', 'audience', 'resource', 'scope', 'subject_token', 'subject_token_type', 'client_at_audience']);

const grants = new Set();
const counts = { refreshes: 0, refused: 0 };
provider.on('refresh_token.saved', (token) => grants.add(token.grantId));
provider.on('grant.success', (ctx) => {
  if (ctx.oidc.params.grant_type === 'refresh_token') counts.refreshes += 1;
});
provider.on('grant.error', () => { counts.refused += 1; });
provider.on('server_error', (_, error) => console.error(error));

const serve = provider.callback();
const answer = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
handler = async (request, response) => {
  const path = request.url.split('?')[0];
  if (path === '/user') {
    const value = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    const token = value && await provider.AccessToken.find(value);
    if (token?.isValid) answer(response, 200, { login: token.accountId, id: 7 });
    else answer(response, 401, { message: 'Bad credentials' });
  } else if (path === '/test/revoke') {
    for (const id of grants) {
      await provider.RefreshToken.revokeByGrantId(id);
      await provider.AccessToken.revokeByGrantId(id);
      await (await provider.Grant.find(id))?.destroy();
    }
    answer(response, 200, {});
  } else if (path === '/test/groups') {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const put = JSON.parse(Buffer.concat(chunks).toString());
    groups.set(put.login, put.groups);
    answer(response, 200, {});
  } else if (path === '/test/counts') {
    answer(response, 200, counts);
  } else {
    serve(request, response);
  }
};
console.log('ready');
