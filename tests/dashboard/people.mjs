// An admin and a member beside the owner: what each sees and may do, an approval by a member, a grant
// for a time, and what is asked before something is destroyed.
import assert from 'node:assert/strict';
import { ask, asked, createKey, open, owner, serves, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const PASSWORD = 'a longer sentence than most';

await walk(async (browser, look) => {
  const boss = await open(browser);
  look(boss.page);
  await setUp(boss.page);
  const key = await createKey(boss.page, 'agent', true);
  const call = (user_id, text = 'to be', more = {}) => ask(key, 'POST', '/v1/tools/words_count/execute', { arguments: { text }, user_id, ...more });
  const rule = (user, permission, more = {}) => ask(key, 'PATCH', `/v1/permissions/users/${user}/tools/words_count`, { permission, ...more });
  await serves(key, 'words_count');

  /** Invites somebody, who joins in a browser of their own. */
  const invite = async (email, name, role) => {
    const { page } = boss;
    await visit(page, '/settings/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill(email);
    await dialog.getByLabel('Role').selectOption(role);
    await dialog.getByRole('button', { name: 'Create invitation' }).click();
    const link = (await dialog.locator('.copy-line code').innerText()).trim();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('table', { name: 'Invitations' }).getByText(email).waitFor();
    const joined = await open(browser);
    look(joined.page);
    await joined.page.goto(link);
    await joined.page.getByText(`as ${role}`).waitFor();
    await joined.page.getByLabel('Name', { exact: true }).fill(name);
    await joined.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await joined.page.getByLabel('Password again').fill(PASSWORD);
    await joined.page.getByRole('button', { name: 'Create account' }).click();
    await joined.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    return joined;
  };
  const seen = async (page) => {
    await visit(page, '/overview');
    return page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts();
  };
  const admins = ['Knowledge', 'Webhooks', 'Triggers', 'API keys', 'Members', 'Audit log'];

  const member = await invite('bob@example.com', 'Bob', 'member');
  const places = await seen(member.page);
  for (const place of admins) assert.ok(!places.includes(place), `${place} in ${places}`);
  assert.ok(places.includes('Approvals'), String(places));
  for (const path of ['/settings/api', '/settings/members', '/settings/audit', '/webhooks', '/triggers', '/knowledge', '/permissions/charles']) {
    await member.page.goto(`${asked.base}${path}`);
    const refusal = member.page.getByRole('alert').first();
    await refusal.getByText(/role_denied|permission_denied/).waitFor();
    await refusal.getByText(/request req_/).waitFor();
  }
  done('a member is offered less, and refused the rest by the gateway');

  await visit(member.page, '/tools/words_count');
  assert.equal(await member.page.getByLabel('Run as user').count(), 0);
  await member.page.getByLabel('text required').fill('to be or not to be');
  await member.page.getByRole('button', { name: 'Run', exact: true }).click();
  await member.page.getByText('No request left the gateway').waitFor();
  await call('charles', 'not for Bob');
  await visit(member.page, '/executions');
  const rows = await member.page.getByRole('table').innerText();
  assert.ok(rows.includes('bob@example.com') && !rows.includes('charles'), rows);
  await visit(member.page, '/permissions?tab=rules');
  await member.page.getByRole('heading', { name: 'Your permissions' }).waitFor();
  assert.equal(await member.page.getByRole('button', { name: 'Temporary rule' }).count(), 0);
  assert.ok(await member.page.getByRole('radio', { name: 'Deny' }).first().isDisabled());
  await visit(member.page, '/plugins');
  assert.equal(await member.page.getByRole('button', { name: 'choose a file' }).count(), 0);
  await visit(member.page, '/settings/workspace');
  await member.page.getByText('Only an owner can change these').waitFor();
  await visit(member.page, '/sessions');
  await member.page.getByRole('button', { name: 'New session' }).first().click();
  await member.page.getByLabel('What should be done?').fill('Count the words of a text');
  await member.page.getByRole('button', { name: 'Start' }).click();
  await member.page.getByText('No model is configured').waitFor();
  await member.page.getByRole('link', { name: 'words_count' }).waitFor();
  done("a member runs tools as themselves, converses, sees their own calls and reads their own rules");

  await visit(boss.page, '/permissions/bob@example.com?tab=rules');
  await boss.page.getByRole('button', { name: 'Words', exact: true }).click();
  await boss.page.getByRole('radiogroup', { name: 'Rule for words_count' }).or(boss.page.getByRole('group', { name: 'Rule for words_count' })).getByText('Ask', { exact: true }).click();
  const saved = boss.page.waitForResponse((response) => response.url().endsWith('/tools/words_count') && response.request().method() === 'PATCH' && response.request().postData().includes('members'));
  await boss.page.getByLabel('Who decides for words_count').selectOption('members');
  assert.equal((await saved).status(), 200);
  const rules = (await ask(key, 'GET', '/v1/permissions/users/bob@example.com')).data;
  assert.deepEqual(rules.approvers, { tools: { words_count: 'members' } }, JSON.stringify(rules));
  const parked = (await call('bob@example.com', 'may I')).data;
  assert.equal(parked.status, 'approval_required', JSON.stringify(parked));
  await member.page.goto(parked.approval_url);
  await member.page.getByRole('heading', { name: 'May bob@example.com run words_count?' }).waitFor();
  assert.equal(await member.page.getByRole('button', { name: /^More options/ }).count(), 0, 'a member sets no rules');
  await member.page.getByRole('button', { name: 'Approve words_count' }).click();
  await member.page.getByText('approved', { exact: true }).waitFor();
  assert.equal((await call('bob@example.com', 'may I')).data.status, 'success');
  const again = (await call('bob@example.com', 'may I')).data;
  assert.equal(again.status, 'approval_required', 'an approval holds for one call');
  await member.page.goto(again.approval_url);
  await member.page.getByRole('button', { name: 'Deny words_count' }).click();
  await member.page.getByText('denied', { exact: true }).waitFor();
  assert.equal((await call('bob@example.com', 'may I')).error?.code, 'permission_denied');
  await visit(boss.page, '/settings/audit');
  const log = await boss.page.getByRole('table').innerText();
  for (const action of ['approvals.approve', 'approvals.deny']) assert.ok(log.includes(action), log);
  assert.ok(log.includes('Bob'), log);
  done('on a rule that says so a member approves a call for themselves and denies one, and the audit log names them');

  const admin = await invite('grace@example.com', 'Grace', 'admin');
  const offered = await seen(admin.page);
  for (const place of admins) assert.ok(offered.includes(place), `${place} in ${offered}`);
  await visit(admin.page, '/settings/members');
  assert.equal(await admin.page.getByRole('button', { name: `Actions for ${owner.name}` }).count(), 0);
  await admin.page.getByRole('button', { name: 'Actions for Bob' }).waitFor();
  await admin.page.getByRole('button', { name: 'Invite' }).click();
  const roles = await admin.page.getByRole('dialog').getByLabel('Role').locator('option').allInnerTexts();
  assert.equal(roles.length, 2, String(roles));
  await admin.page.getByRole('button', { name: 'Cancel' }).click();
  await visit(admin.page, '/settings/workspace');
  await admin.page.getByText('Only an owner can change these').waitFor();
  done('an admin has keys, users and members, but neither owners nor the workspace');

  await rule('dora', 'deny');
  assert.equal((await call('dora')).status, 403);
  const { page } = admin;
  await visit(page, '/permissions/dora');
  await page.getByRole('button', { name: 'Temporary rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Service').selectOption('words');
  await dialog.getByLabel('Tool', { exact: true }).selectOption('words_count');
  await dialog.getByText('Allow', { exact: true }).click();
  await dialog.getByLabel('Maximum calls').fill('2');
  await dialog.getByRole('button', { name: 'Set rule' }).click();
  const limited = page.getByRole('table', { name: 'Temporary rules' });
  await limited.getByText('0 of 2').waitFor();
  assert.equal((await call('dora')).data.status, 'success');
  await page.reload();
  await limited.getByText('1 of 2').waitFor();
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByText('Rule ended').first().waitFor();
  await limited.waitFor({ state: 'detached' });
  await rule('dora', 'deny');
  assert.equal((await call('dora')).status, 403);
  done('a grant for a time holds for its calls, is shown with what is left, and is ended early');

  await visit(page, '/permissions/erin?tab=rules');
  await page.getByRole('checkbox', { name: 'Select Words' }).check();
  await page.getByLabel('Who decides where these ask').selectOption('self');
  await page.locator('.card header').getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByText('1 ask').waitFor();
  const several = (await ask(key, 'GET', '/v1/permissions/users/erin')).data;
  assert.deepEqual([several.services, several.approvers], [{ words: 'ask' }, { services: { words: 'self' } }]);
  await ask(key, 'PATCH', '/v1/permissions/users/erin/services/words', { permission: 'deny' });
  assert.equal((await call('erin')).status, 403);
  await visit(page, '/permissions/erin?tab=rules');
  await page.getByRole('button', { name: 'Words', exact: true }).click();
  await page.getByRole('group', { name: 'Rule for words_count' }).or(page.getByRole('radiogroup', { name: 'Rule for words_count' })).getByText('Allow', { exact: true }).click();
  await page.getByText('1 allow').waitFor();
  assert.equal((await call('erin')).data.status, 'success');
  done('many services are set to ask at once, with who decides; of a denied one a tool is allowed, though its user sees none of them');

  // What destroys asks first; who turns back has lost nothing.
  const session = (await ask(key, 'POST', '/v1/sessions', { prompt: 'Count' })).data.session_id;
  await visit(page, '/sessions');
  const remove = page.getByRole('button', { name: `Delete session ${session}` });
  await remove.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await ask(key, 'GET', `/v1/sessions/${session}`)).status, 200);
  await remove.click();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await ask(key, 'GET', `/v1/sessions/${session}`)).status, 200);
  await remove.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await remove.waitFor({ state: 'detached' });
  assert.equal((await ask(key, 'GET', `/v1/sessions/${session}`)).status, 404);
  await visit(page, '/settings/members');
  await page.getByRole('button', { name: 'Actions for Bob' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByText('bob@example.com').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Actions for Bob' }).waitFor({ state: 'detached' });
  await member.page.goto(`${asked.base}/tools`);
  await member.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  done('what destroys asks first, and a removed member is out at the next request');

  const noise = /status of (401|403)/;
  assert.deepEqual([...boss.wrong, ...member.wrong, ...admin.wrong].filter((line) => !noise.test(line)), []);
});
