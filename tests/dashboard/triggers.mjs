// A trigger from the form to what it finds: connecting on the way, a refusal at its field, a test, a pause, its list and its
// receipts, who may see it, and its end. `asked`: secret (that the provider takes), add (gives the provider an item more).
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, serves, setUp, violations, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const HOOK = 'https://app.example.com/toolgate';

/** Asks the dashboard's own interface, as the person of the page. */
const asPerson = (page, method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'content-type': 'application/json', 'x-toolgate-dashboard': '1' };
      const response = await fetch(`/internal${path}`, { method, headers, body: body && JSON.stringify(body) });
      return { status: response.status, ...(await response.json()) };
    },
    [method, path, body],
  );

await walk(async (browser, look) => {
  const { context, page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'widgets_list_items');
  const dialog = page.getByRole('dialog');
  const press = (name) => page.getByRole('button', { name, exact: true }).click();
  const says = (text) => page.getByText(text, { exact: true }).first().waitFor();

  await visit(page, '/triggers');
  await live(page);
  await page.getByText('No triggers yet').waitFor();
  await page.getByRole('button', { name: 'New trigger' }).first().click();
  await page.waitForFunction(() => document.activeElement?.closest('dialog .inner')?.querySelector('select') === document.activeElement);
  await dialog.getByLabel('Service', { exact: true }).selectOption('widgets');
  await dialog.getByLabel('Trigger', { exact: true }).selectOption('new_item');
  const folder = dialog.getByLabel('folder', { exact: true });
  await folder.waitFor();
  for (const name of ['kind', 'cursor']) assert.equal(await dialog.getByLabel(name, { exact: true }).count(), 0, `${name} is set by the trigger`);
  await dialog.getByText('has not connected Widgets yet').waitFor();
  assert.deepEqual(await violations(page), [], 'the form');
  const [tab] = await Promise.all([context.waitForEvent('page'), dialog.getByRole('button', { name: /^Connect Widgets of/ }).click()]);
  await tab.locator('input[type=password]').fill(asked.secret);
  await tab.getByRole('button', { name: /connect Widgets/ }).click();
  await tab.getByRole('heading', { name: 'Connected' }).waitFor();
  await tab.close();
  await dialog.getByText('has not connected Widgets yet').waitFor({ state: 'detached' });
  done('the form asks only for what is to be chosen, and leads to the connection that is missing');

  await folder.fill('inbox');
  const size = dialog.getByLabel('size', { exact: true });
  await size.fill('large');
  await press('Create trigger');
  await size.and(page.locator('[aria-invalid=true]')).waitFor();
  assert.equal(await dialog.locator('[aria-invalid=true]').count(), 1);
  assert.deepEqual((await ask(key, 'GET', '/v1/triggers')).data.triggers, []);
  await size.fill('');
  await press('Create trigger');
  await page.waitForURL(/\/triggers\/trg_/);
  await page.getByRole('heading', { name: 'New item', level: 1 }).waitFor();
  await says('active');
  await page.getByText('reads what is there already').waitFor({ state: 'detached' });
  await page.getByText('Nowhere: no webhook subscribes to trigger.widgets.new_item.').waitFor();
  const id = page.url().split('/').at(-1);
  const path = `/v1/triggers/${id}`;
  const kept = (await ask(key, 'GET', path)).data;
  assert.deepEqual(kept.config, { folder: 'inbox' });
  done('a refusal stands at its field, and a new trigger is active and says that nobody is sent its events');

  await press('Test');
  // The provider's items are older.
  await page.getByText(/^0 items of the last day, of 2 that were read/).waitFor();
  await page.getByRole('link', { name: 'Receipt of the call' }).waitFor();
  assert.equal((await ask(key, 'GET', path)).data.items_found, 0);
  done('a test says what it would have found in the last day and changes nothing');

  const found = (count) => page.locator('dt:text-is("Items found") + dd').filter({ hasText: new RegExp(`^${count}$`) }).waitFor();
  await found(0);
  await press('Pause');
  await says('paused');
  assert.equal((await ask(key, 'GET', path)).data.state, 'paused');
  await fetch(asked.add);
  await press('Resume');
  await says('active');
  await found(1);
  assert.equal((await ask(key, 'POST', '/v1/webhooks', { url: HOOK, events: ['trigger.*'] })).status, 201);
  await page.getByRole('link', { name: HOOK }).waitFor();
  assert.equal(await page.getByText('Nowhere:').count(), 0);
  done('what came in a pause is found when the trigger goes on, and the page hears of it and of the webhook');

  await page.getByRole('link', { name: 'Polls of this tool for this user' }).click();
  const calls = page.getByRole('table', { name: 'Executions, newest first' });
  await calls.getByText('widgets_list_items').first().waitFor();
  const [, ...polls] = await calls.getByRole('row').allInnerTexts();
  for (const row of polls) assert.match(row, /\btrigger\b/, 'the test is no poll');
  const made = await ask(key, 'POST', '/v1/triggers', { service: 'widgets', trigger: 'new_item', user_id: 'bob' });
  assert.equal(made.status, 201, JSON.stringify(made));
  await visit(page, '/triggers');
  const table = page.getByRole('table', { name: 'Triggers, newest first' });
  const bobs = table.getByRole('row').filter({ hasText: 'bob' });
  await bobs.getByText('waiting for a connection').waitFor();
  await bobs.getByRole('button', { name: 'Connect Widgets of bob' }).waitFor();
  await page.getByLabel('State', { exact: true }).selectOption('active');
  await bobs.waitFor({ state: 'detached' });
  assert.equal(await table.getByRole('row').count(), 2, 'the head and the active one');
  await page.getByLabel('State', { exact: true }).selectOption('paused');
  await says('No matches');
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await bobs.waitFor();
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const at of ['/triggers', `/triggers/${id}`]) {
      await visit(page, at);
      await says('active');
      assert.deepEqual(await violations(page), [], `${at}, ${colorScheme}`);
    }
  }
  done('the list says who waits for what, its filters hold, and the receipts are those of the polls');

  const keyOf = async (name, scopes) => (await asPerson(page, 'POST', '/keys', { name, scopes, user_id: 'eve' })).data.key;
  const eve = await keyOf('of eve', ['webhooks', 'tools:execute']);
  assert.deepEqual((await ask(eve, 'GET', '/v1/triggers')).data.triggers, []);
  for (const [method, below] of [['GET', ''], ['DELETE', ''], ['POST', '/test']]) assert.equal((await ask(eve, method, path + below)).error?.code, 'not_found', method);
  const lacks = await keyOf('without the scope', ['tools:execute']);
  assert.equal((await ask(lacks, 'GET', '/v1/triggers')).error?.code, 'scope_denied');
  const { join_url } = (await asPerson(page, 'POST', '/members', { email: 'bob@example.com', role: 'member' })).data;
  const member = await open(browser);
  await member.page.goto(join_url);
  await member.page.getByLabel('Name', { exact: true }).fill('Bob');
  await member.page.getByLabel('Password', { exact: true }).fill('a longer sentence than most');
  await member.page.getByLabel('Password again').fill('a longer sentence than most');
  await member.page.getByRole('button', { name: 'Create account' }).click();
  await member.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  assert.equal(await member.page.getByRole('link', { name: 'Triggers', exact: true }).count(), 0);
  assert.equal((await asPerson(member.page, 'GET', '/offered-triggers')).error?.code, 'role_denied');
  for (const at of ['/triggers', `/triggers/${id}`]) {
    await member.page.goto(`${asked.base}${at}`);
    await member.page.getByRole('alert').first().getByText(/role_denied/).waitFor();
    assert.equal(await member.page.getByText('inbox').count(), 0);
    assert.equal(await member.page.getByRole('button', { name: 'New trigger' }).count(), 0);
  }
  done('a key of another user, a key without the scope and a member see nothing of it');

  await press('Delete');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await ask(key, 'GET', path)).status, 200);
  await press('Delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(`${asked.base}/triggers`);
  await bobs.waitFor();
  assert.equal(await table.getByRole('row').count(), 2, 'the head and the one of bob');
  assert.equal((await ask(key, 'GET', path)).error?.code, 'not_found');
  done('a trigger is deleted once that was confirmed');

  assert.deepEqual(wrong.filter((line) => !line.includes('status of 400')), []);
  assert.deepEqual(member.wrong.filter((line) => !line.includes('status of 403')), []);
});
