// Webhooks from the form to the receiver: deliveries that arrive and that fail, the secret, switching
// off, deleting; the pages hear of all of it. `asked`: hooks, where the receiver is reached.
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const RECEIVER = 'https://hooks.example.test';
const SECRET = /whsec_[A-Za-z0-9+/=]+/;

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  const trust = async (path, ...secrets) => {
    const answer = await fetch(`${asked.hooks}/secrets`, { method: 'PUT', body: JSON.stringify({ [path]: secrets }) });
    assert.equal(answer.status, 204);
  };
  const arrived = async (path) => (await (await fetch(`${asked.hooks}/log`)).json())[path] ?? [];
  /** The secret in the open dialog, which shows it once. */
  const secret = async () => {
    const dialog = page.getByRole('dialog', { name: 'Signing secret' });
    const text = (await dialog.locator('.copy-line code').innerText()).trim();
    assert.match(text, SECRET);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    return text;
  };
  const add = async (path, about) => {
    await visit(page, '/webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(`${RECEIVER}${path}`);
    await dialog.getByLabel('About').fill(about);
    await dialog.getByLabel(/Skills: created/).check();
    await dialog.getByRole('button', { name: 'Add webhook' }).click();
    return secret();
  };
  const deliveries = page.getByRole('table', { name: 'Deliveries, newest first' });
  /** Waits until so many are said to have arrived. */
  const delivered = (wanted) =>
    page.waitForFunction(
      (rows) => [...document.querySelectorAll('table[role=table] [role=row]')].filter((row) => row.textContent.includes('delivered')).length === rows,
      wanted,
    );

  await visit(page, '/webhooks');
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  await page.getByRole('dialog').getByLabel('Address').fill('http://127.0.0.1/');
  await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText(/invalid_request/).waitFor();
  const first = await add('/ok/in', 'Production');
  await trust('/ok/in', first);
  assert.ok(!(await page.content()).includes(first), 'the secret is not shown again');
  done('a webhook is added, its secret shown once, and an address that is none of ours to reach refused');

  await page.getByRole('link', { name: `${RECEIVER}/ok/in` }).click();
  await page.getByRole('heading', { name: 'Production' }).waitFor();
  await page.getByText('Nothing sent yet').waitFor();
  await live(page);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await deliveries.getByText('delivered').waitFor();
  await page.getByText(/^The test was delivered: the receiver answered 2/).waitFor();
  const [test] = await arrived('/ok/in');
  assert.deepEqual(test.verified, [true]);
  const before = await deliveries.getByRole('row').count();
  await ask(key, 'POST', '/v1/skills', { name: 'Triage', summary: 'Every morning', instructions: 'Look.' });
  await deliveries.getByText('skill.created').waitFor();
  await page.waitForFunction((rows) => document.querySelectorAll('table[role=table] [role=row]').length > rows, before);
  await deliveries.getByRole('row').filter({ hasText: 'skill.created' }).getByText('delivered').waitFor();
  await deliveries.getByRole('button', { name: 'Send again' }).first().click();
  await page.waitForFunction((rows) => document.querySelectorAll('table[role=table] [role=row]').length > rows, before + 1);
  // All three, before a later one is told from them.
  await delivered(3);
  done('a test, an event and its repetition arrive signed and appear on the page by themselves');

  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const second = await secret();
  assert.notEqual(second, first);
  await page.getByText('Old secret signs until').waitFor();
  await trust('/ok/in', first, second);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await delivered(4);
  assert.deepEqual((await arrived('/ok/in')).at(-1).verified, [true, true]);
  done('a rotated secret signs beside the old one');

  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText('off', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('on', { exact: true }).waitFor();

  await add('/failing/here', 'Broken');
  await page.getByRole('link', { name: `${RECEIVER}/failing/here` }).click();
  await page.getByRole('heading', { name: 'Broken' }).waitFor();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('failing', { exact: true }).waitFor();
  await page.getByText(/paused until/).first().waitFor();
  const tries = (await arrived('/failing/here')).length;
  await page.getByRole('button', { name: 'Resume now' }).click();
  while ((await arrived('/failing/here')).length === tries) await new Promise((resolve) => setTimeout(resolve, 50));
  await visit(page, '/overview');
  await page.getByRole('link', { name: '1 webhook does not answer' }).click();
  await page.getByRole('row').filter({ hasText: 'Broken' }).getByText('failing', { exact: true }).waitFor();
  done('a webhook that does not answer is said to fail, here and on the overview');

  await page.getByRole('link', { name: `${RECEIVER}/failing/here` }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(`${asked.base}/webhooks`);
  await page.getByText('Production').waitFor();
  await page.getByText('Broken').waitFor({ state: 'detached' });
  await visit(page, '/overview');
  assert.equal(await page.getByText('does not answer').count(), 0);
  done('a webhook is deleted once that was confirmed');

  assert.deepEqual(wrong.filter((line) => !line.includes('status of 400')), []);
});
