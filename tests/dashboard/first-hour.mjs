// The first hour: the list of first steps, a client that is connected while the page watches, the palette's actions, and what a
// plugin may do in groups.
import assert from 'node:assert/strict';
import { ask, asked, createKey, open, serves, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  await page.getByText('0 of 6 done').waitFor();
  const dialog = page.getByRole('dialog');
  await page.getByRole('link', { name: 'Invite', exact: true }).click();
  await dialog.getByRole('heading', { name: /^Invite/ }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'email' || document.activeElement?.tagName === 'INPUT');
  assert.equal(page.url(), `${asked.base}/settings/members`, 'the word has left the address');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  assert.equal(await dialog.count(), 0, 'a reload asks for nothing');
  done('a new workspace sees its first steps, and a step leads to the form itself');

  const key = await createKey(page, 'first agent', true);
  await serves(key, 'words_count');
  const toolset = { name: 'counting', title: 'Counting', description: '', tools: ['words_count'] };
  assert.equal((await ask(key, 'POST', '/v1/toolsets', toolset)).success, true);
  await visit(page, '/settings/clients');
  await page.getByText(`${asked.base} is reached from this computer only.`).waitFor();
  await page.getByRole('tab', { name: 'Cursor' }).click();
  const link = async () => JSON.parse(atob(new URL(await page.getByRole('link', { name: 'Add to Cursor' }).getAttribute('href')).searchParams.get('config')));
  assert.deepEqual(await link(), { url: `${asked.base}/mcp` });
  await page.getByLabel('Tools', { exact: true }).selectOption('counting');
  assert.deepEqual(await link(), { url: `${asked.base}/mcp/t/counting` });
  await page.getByRole('status', { name: 'Your client' }).getByText('Waiting for your client').waitFor();
  await page.getByText('Last call: first agent').waitFor();
  await ask(key, 'GET', '/v1/status');
  await page.getByText('Connected: first agent').waitFor();
  done('a client gets its link and its address, and the page says when it has called');

  await ask(key, 'POST', '/v1/tools/words_count/execute', { arguments: { text: 'to be' } });
  await visit(page, '/overview');
  await page.getByText('2 of 6 done').waitFor();
  await page.getByRole('button', { name: 'Hide the first steps' }).click();
  await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { name: 'Top tools' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0, 'hidden stays hidden');
  done('what is done is counted by the gateway, and the list can be hidden');

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find/ }).fill('create key');
  await page.getByRole('option', { name: 'Create an API key' }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Name').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('dialog .inner') != null);
  await page.keyboard.press('Escape');
  done('the palette begins an action, and the dialog begins at its first field');

  await visit(page, '/plugins/words');
  await page.getByRole('group', { name: 'Tools' }).getByText(/^offer a new tool/).first().waitFor();
  const texts = page.getByRole('group', { name: 'Texts' });
  assert.equal(await texts.getByRole('listitem').count(), 0, 'texts are folded');
  await texts.locator('summary').click();
  await texts.getByRole('listitem').first().waitFor();
  done('what a plugin may do is in groups, with its texts folded');

  await page.goto(`${asked.base}/overwiev`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('button', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  for (const [path, accept] of [['/overwiev', 'application/json'], ['/v1/overwiev', 'text/html'], ['/internal/overwiev', 'text/html']]) {
    const answer = await fetch(`${asked.base}${path}`, { headers: { accept }, redirect: 'manual' });
    assert.equal(answer.status, 404, `${path} ${accept}`);
  }
  done('an address that is not there is a page for people, and a refusal for programs');

  assert.deepEqual(wrong, []);
});
