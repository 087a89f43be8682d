// The certified authorization server (npm oidc-provider) with the addresses of GitHub, short access
// tokens, refresh rotation and revocation, and one API behind it: GET /user.
// Prints its port, reads one JSON line {redirect_uri, access_token_s, sign_in}, prints `ready`.
// With `sign_in` it is what members sign in with: under another site's name than 127.0.0.1, with the
// methods that its description names, and with addresses. Who logs in as `unproven X` has the
// address X, but has not proven it.
import http from 'node:http';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';

const from = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(pathToFileURL(from.resolve('oidc-provider')));

let handler;
const server = http.createServer((request, response) => handler(request, response));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
console.log(server.address().port);

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const asked = JSON.parse((await lines.next()).value);

const issuer = `http://${asked.sign_in ? 'localhost' : '127.0.0.1'}:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'the-client',
    client_secret: 'the-client-secret',
    redirect_uris: [asked.redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: asked.sign_in ? 'client_secret_basic' : 'client_secret_post',
  }],
  scopes: ['openid', 'offline_access', 'email', 'profile', 'repo', 'read:user'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
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
    Grant: 3600, Interaction: 600, Session: 600, IdToken: 60,
  },
  cookies: { keys: ['only for this run'] },
  jwks: undefined,
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id.replace(/^unproven /, ''), email_verified: !id.startsWith('unproven ') }),
  }),
});

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
  } else if (path === '/test/counts') {
    answer(response, 200, counts);
  } else {
    serve(request, response);
  }
};
console.log('ready');
