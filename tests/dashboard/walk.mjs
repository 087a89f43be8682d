// From an empty gateway to a revoked key, as an operator does it in the browser while an agent asks
// over curl and MCP. `asked`: provider, upload.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { asked, createKey, live, open, owner, setUp, settled, visit, walk } from './browser.mjs';

const TOOL = 'github_get_authenticated_user';
const done = (what) => console.log(what);

/** One request with the program curl: status and body. */
function curl(key, path, body) {
  const more = body ? ['-X', 'POST', '-H', 'Content-Type: application/json', '-d', JSON.stringify(body)] : [];
  const out = execFileSync('curl', ['-sS', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${key}`, ...more, `${asked.base}${path}`], { encoding: 'utf8' });
  const at = out.lastIndexOf('\n');
  return { status: Number(out.slice(at + 1)), ...JSON.parse(out.slice(0, at)) };
}
const execute = (key, tool, args = {}) => curl(key, `/v1/tools/${tool}/execute`, { arguments: args });

/** Calls a tool of the MCP endpoint, in a session of its own; answers its text. */
async function mcp(key, name, args) {
  const version = '2025-06-18';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': version };
  const send = (body) => fetch(`${asked.base}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'walk', version: '1' } };
  const begun = await send({ id: 1, method: 'initialize', params });
  assert.equal(begun.status, 200, await begun.clone().text());
  const session = begun.headers.get('mcp-session-id');
  if (session) headers['mcp-session-id'] = session;
  await begun.text();
  await (await send({ method: 'notifications/initialized' })).text();
  const text = await (await send({ id: 2, method: 'tools/call', params: { name, arguments: args } })).text();
  const answer = text.trimStart().startsWith('{') ? text : text.split('\n').findLast((line) => line.startsWith('data: {')).slice(6);
  return JSON.parse(answer).result.content[0].text;
}

/** Sets the rule for a service, or a tool below it, on the page of the key's user. */
async function rule(page, name, setting) {
  await page.getByRole('radiogroup', { name: `Rule for ${name}` }).or(page.getByRole('group', { name: `Rule for ${name}` })).getByText(setting, { exact: true }).click();
}

await walk(async (browser, look) => {
  const { context, page, wrong } = await open(browser);
  look(page);

  await setUp(page);
  await page.goto(asked.setup_url);
  await page.getByText('This link does not work').waitFor();
  // The refusal is what was asked for; everything else must stay quiet.
  wrong.splice(0, wrong.length, ...wrong.filter((line) => !line.includes('/internal/link')));
  done('the set-up link makes the first owner, once');

  const key = await createKey(page, 'research agent');
  const status = curl(key, '/v1/status');
  assert.equal(status.status, 200, JSON.stringify(status));
  assert.equal(status.data.key.name, 'research agent');
  assert.ok(!(await page.content()).includes(key), 'the key is not shown again');
  const user = status.data.key.user_id;
  done('a key is made, shown once and works with curl');

  await visit(page, '/plugins');
  await page.setInputFiles('input[type=file]', asked.upload);
  await page.getByRole('dialog').getByText('words', { exact: true }).waitFor();
  assert.equal(execute(key, 'words_count', { text: 'a' }).status, 404, 'looking installs nothing');
  await page.getByRole('button', { name: 'Grant and install' }).click();
  await page.getByRole('link', { name: 'Words' }).waitFor();
  await visit(page, '/tools/words_count');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('alert').getByText('/text').waitFor();
  // What was wrong on purpose is said on the page, and by the browser on its console.
  wrong.splice(0, wrong.length, ...wrong.filter((line) => !line.includes('/words_count/execute')));
  await page.getByLabel('text required').fill('to be or not to be');
  await page.getByRole('button', { name: 'Copy as ...' }).click();
  const copied = await page.getByRole('region', { name: 'call in curl' }).innerText();
  const said = JSON.parse(execFileSync('sh', ['-c', copied.replace('curl', 'curl -sS')], { encoding: 'utf8', env: { ...process.env, TOOLGATE_API_KEY: key } }));
  assert.equal(said.data?.status, 'success', JSON.stringify(said));
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('region', { name: 'result' }).getByText('"or"').waitFor();
  await page.getByText('No request left the gateway').waitFor();
  assert.equal(execute(key, 'words_count', { text: 'to be' }).data.status, 'success');
  done('a plugin is looked at, uploaded and its tool is used, in the form and by the agent');

  assert.equal(execute(key, TOOL).data.reason, 'auth_required');
  await visit(page, '/integrations');
  await page.getByLabel('Filter integrations').fill('github');
  await page.getByRole('link', { name: /GitHub/ }).first().click();
  await page.getByRole('heading', { name: 'OAuth application' }).waitFor();
  const callback = await page.getByText(`${asked.base}/oauth/callback/github`).innerText();
  assert.equal(callback, `${asked.base}/oauth/callback/github`);
  await page.getByLabel('Client id').fill('the-client');
  await page.getByLabel('Client secret').fill('the-client-secret');
  await page.getByLabel('Scopes').fill('openid repo read:user');
  await page.getByLabel('Provider URL').fill(asked.provider);
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('OAuth application saved').first().waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.locator('.note-box.ok').first().waitFor();
  assert.equal(await page.locator('.note-box.bad').count(), 0, await page.innerText('main'));
  const [there] = await Promise.all([context.waitForEvent('page'), page.getByRole('button', { name: 'Connect your account' }).first().click()]);
  look(there);
  await there.click('button[type=submit]');
  await there.fill('input[name=login]', 'octo-ada');
  await there.fill('input[name=password]', 'any');
  await there.click('button[type=submit]');
  await there.getByText('Continue').click();
  await there.waitForSelector('#connected');
  await there.close();
  look(page);
  await page.getByRole('cell', { name: 'octo-ada' }).waitFor();
  assert.equal(execute(key, TOOL).data.result.login, 'octo-ada');
  done('a service is set up, tested and connected through the provider, and the page hears of it');

  await visit(page, '/connections');
  await page.getByRole('row').filter({ hasText: 'octo-ada' }).getByRole('link', { name: 'GitHub' }).waitFor();
  await page.getByLabel('State', { exact: true }).selectOption('reauth_needed');
  await page.getByText('No matches').waitFor();
  await visit(page, `/permissions/${encodeURIComponent(owner.email)}`);
  await page.getByRole('table', { name: 'Connections, newest first' }).getByText('octo-ada').waitFor();
  await page.getByRole('table', { name: 'Newest calls' }).getByText(TOOL).first().waitFor();
  done('the connection is on the page of all, and on that of its user, with their calls');

  await visit(page, '/executions');
  await live(page);
  const rows = await page.getByRole('row').count();
  execute(key, 'words_count', { text: 'live' });
  await page.waitForFunction((before) => document.querySelectorAll('[role=row]').length > before, rows);
  done('a call appears without a reload');

  await visit(page, `/permissions/${encodeURIComponent(user)}?tab=rules`);
  await page.getByRole('button', { name: 'GitHub', exact: true }).click();
  await rule(page, TOOL, 'Deny');
  await page.getByText('1 deny').waitFor();
  const refused = execute(key, TOOL);
  assert.equal(refused.status, 403);
  assert.equal(refused.error.code, 'permission_denied');
  await page.getByRole('tab', { name: 'Explain' }).click();
  await page.getByLabel('Tool', { exact: true }).fill(TOOL);
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('a rule for this tool').waitFor();
  done('a tool is denied, the agent is refused, and the page says why');

  await page.getByRole('tab', { name: 'By service and tool' }).click();
  await page.getByRole('button', { name: 'GitHub', exact: true }).click();
  await rule(page, TOOL, 'Ask');
  await page.getByText('1 ask').waitFor();
  const parked = execute(key, TOOL).data;
  assert.equal(parked.status, 'approval_required', JSON.stringify(parked));
  await page.goto(parked.approval_url);
  await page.getByText('GET https://api.github.com/user').waitFor();
  await page.getByRole('button', { name: `Approve ${TOOL}` }).click();
  await page.getByText('approved', { exact: true }).waitFor();
  assert.equal(execute(key, TOOL).data.result.login, 'octo-ada');
  assert.equal(execute(key, TOOL).data.status, 'approval_required', 'an approval holds for one call');
  done('a parked call is approved at the address the agent was given, and runs once');

  await visit(page, '/skills');
  await page.getByRole('button', { name: 'New Skill' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Count a text');
  await dialog.getByLabel('Summary').fill('How texts are counted here.');
  await dialog.getByLabel('Instructions').fill('Call `words_count`.\n\n<img src=x onerror=alert(1)>');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Count a text', level: 1 }).waitFor();
  assert.equal(await page.locator('.prose img').count(), 0, 'HTML of a Skill stays text');
  await page.getByLabel('Instructions').fill('Call `words_count` **twice**.');
  await page.locator('.prose strong', { hasText: 'twice' }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved as version 2').first().waitFor();
  const id = page.url().split('/').at(-1);
  assert.ok((await mcp(key, 'svc_get_skill', { skill_id: id })).includes('Call `words_count` **twice**.'));
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.locator('.diff .added', { hasText: 'twice' }).waitFor();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.getByText('Restored version 1 as version 3').first().waitFor();
  assert.ok((await mcp(key, 'svc_get_skill', { skill_id: id })).includes('onerror'));
  done('a Skill is written, edited, read over MCP, and an old version restored');

  await visit(page, '/settings/api');
  await page.getByRole('button', { name: 'Actions for research agent' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(curl(key, '/v1/status').status, 200, 'cancelled is cancelled');
  await page.getByRole('button', { name: 'Actions for research agent' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
  const after = curl(key, '/v1/status');
  assert.equal(after.status, 401);
  assert.equal(after.error.code, 'invalid_api_key');
  done('a revoked key fails at the next call');

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find/ }).fill('audit');
  await page.getByRole('option', { name: 'Audit log' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
  await settled(page);
  const log = await page.innerText('main');
  assert.ok(log.includes(`${owner.name} revoked the API key research agent`), log);
  assert.ok(log.includes(`approved ${TOOL} for ${user}`), log);
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  const gone = await page.request.get(`${asked.base}/internal/me`);
  assert.equal(gone.status(), 401);
  done('changes are in the audit log, and signing out ends the sign-in');

  assert.deepEqual(wrong, []);
});
