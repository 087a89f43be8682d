// An MCP client that knows the address alone is let in by a person, used, disconnected and refused.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ask, asked, createKey, open, owner, serves, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const base64url = (bytes) => bytes.toString('base64url');

/** The client's own web server, where the browser ends with the answer. */
const arrived = [];
const server = createServer((request, response) => {
  if (request.url.startsWith('/callback')) arrived.push(new URL(request.url, 'http://127.0.0.1'));
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>client</title><h1>Back in the client</h1>');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const redirect = `http://127.0.0.1:${server.address().port}/callback`;

const json = async (url, init) => (await fetch(url, init)).json();
const refused = await fetch(`${asked.base}/mcp`, { method: 'POST' });
const [, metadata] = refused.headers.get('www-authenticate').match(/resource_metadata="([^"]+)"/);
const resource = await json(metadata);
const issuer = new URL(resource.authorization_servers[0]);
const server_metadata = await json(`${issuer.origin}/.well-known/oauth-authorization-server${issuer.pathname}`);
const registered = await json(server_metadata.registration_endpoint, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ client_name: 'Walking client', redirect_uris: [redirect], token_endpoint_auth_method: 'none' }),
});

const verifier = base64url(randomBytes(32));
function authorization(state, where = resource.resource) {
  const url = new URL(server_metadata.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: registered.client_id,
    redirect_uri: redirect,
    code_challenge: base64url(createHash('sha256').update(verifier).digest()),
    code_challenge_method: 'S256',
    resource: where,
    state,
  });
  return url.href;
}
const form = (fields) => ({ method: 'POST', body: new URLSearchParams({ client_id: registered.client_id, resource: resource.resource, ...fields }) });

/** The status of a call with an access token. */
async function call(token) {
  const body = {
    jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: {
      name: 'svc_health_check', arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'walk', version: '1' },
      },
    },
  };
  const headers = {
    authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'svc_health_check',
  };
  return (await fetch(resource.resource, { method: 'POST', headers, body: JSON.stringify(body) })).status;
}

await walk(async (browser, look) => {
  const first = await open(browser);
  look(first.page);
  await setUp(first.page);
  const key = await createKey(first.page, 'agent', true);
  await serves(key, 'words_count');
  const toolset = { name: 'counting', title: 'Counting', description: '', tools: ['words_count'] };
  assert.equal((await ask(key, 'POST', '/v1/toolsets', toolset)).success, true);
  await first.context.close();

  // Nobody is signed in here: the sign-in comes first and leads back.
  const { page } = await open(browser);
  look(page);
  await page.goto(authorization('one'));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Password').fill(owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Connect Walking client?' }).waitFor();
  await page.getByText('Nobody has checked this app').waitFor();
  await page.getByText('Run tools with the accounts that you have connected').waitFor();
  const decision = page.url();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Back in the client' }).waitFor();
  const answer = arrived.pop().searchParams;
  assert.equal(answer.get('state'), 'one');
  assert.equal(answer.get('iss'), resource.authorization_servers[0]);
  done('a person signs in and lets an app in');

  const fields = { grant_type: 'authorization_code', code: answer.get('code'), redirect_uri: redirect, code_verifier: verifier };
  const tokens = await json(server_metadata.token_endpoint, form(fields));
  assert.equal(await call(tokens.access_token), 200, JSON.stringify(tokens));
  await page.goto(decision);
  await page.getByText('This request was already decided').waitFor();
  done('it calls with what it was given, and the page decides once');

  await visit(page, '/settings/apps');
  await page.getByRole('cell', { name: 'Walking client', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Actions for Walking client' }).click();
  await page.getByRole('menuitem', { name: 'Disconnect' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.getByText('No connected apps').waitFor();
  assert.equal(await call(tokens.access_token), 401);
  done('disconnected, its next call is refused');

  await page.goto(authorization('two'));
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Back in the client' }).waitFor();
  const no = arrived.pop().searchParams;
  assert.deepEqual([no.get('error'), no.get('state'), no.get('code')], ['access_denied', 'two', null]);
  done('a person may say no');

  await page.goto(authorization('three', `${resource.resource}/t/counting`));
  await page.getByText('Only with what the toolset Counting gives you now, 1 tool:').waitFor();
  await page.getByText('words_count').waitFor();
  assert.equal(await page.getByText('Skill').count(), 0, 'the toolset gives no Skills');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Back in the client' }).waitFor();
  done('at a toolset, the page says what that gives alone');
});
server.close();
