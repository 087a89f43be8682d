// What a person types: it stays while they look elsewhere, is sent as it was meant, and can be taken
// back. `asked`: picture, other (no documents), note (one), tenant (email and password of another
// workspace's admin).
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, serves, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);

await walk(async (browser, look) => {
  const { context, page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'figures_run');
  await serves(key, 'github_get_authenticated_user');

  const made = await ask(key, 'POST', '/v1/skills', { name: 'Triage', summary: 'Every morning', instructions: 'Look.' });
  const skill = made.data.skill_id;
  const save = async (instructions, version) => assert.equal((await ask(key, 'PUT', `/v1/skills/${skill}`, { instructions, version })).status, 200);
  await visit(page, `/skills/${skill}`);
  await live(page);
  const instructions = page.getByLabel('Instructions');
  const says = (text) => page.waitForFunction((wanted) => document.querySelector('textarea')?.value === wanted, text);
  await save('Look twice.', 1);
  await says('Look twice.');
  await instructions.fill('Half a thought');
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Restore' }).waitFor();
  assert.ok(!(await instructions.isVisible()));
  await page.getByRole('tab', { name: 'Edit' }).click();
  assert.equal(await instructions.inputValue(), 'Half a thought');
  await save('Look thrice.', 2);
  await page.getByText('Somebody saved version 3 while you were editing 2').waitFor();
  assert.equal(await instructions.inputValue(), 'Half a thought');
  await page.getByRole('button', { name: 'Use theirs' }).click();
  await says('Look thrice.');
  done('an edit outlives a look at another tab, and a page without one follows the newest version');

  await visit(page, '/tools/figures_run');
  const ratio = page.getByLabel('ratio', { exact: true });
  await ratio.pressSequentially('1.50');
  assert.equal(await ratio.inputValue(), '1.50');
  await page.getByLabel('count', { exact: true }).pressSequentially('12345678901234567890');
  await page.getByLabel('parts', { exact: true }).pressSequentially('0.25\n-3\n');
  await page.getByLabel('parts', { exact: true }).press('Backspace');
  await page.getByRole('radio', { name: 'JSON' }).click();
  const sent = JSON.parse(await page.getByLabel('Arguments', { exact: true }).inputValue());
  assert.deepEqual(sent, { ratio: 1.5, count: '12345678901234567890', parts: [0.25, -3] });
  await page.getByRole('radio', { name: 'Form' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('No request left the gateway').waitFor();
  await page.getByLabel('count', { exact: true }).fill('1.5');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('alert').getByText('/count').waitFor();
  done('numbers are sent as they were typed, with all their digits, and what is no integer is refused');

  await visit(page, '/integrations/figures');
  const region = page.getByLabel('Region');
  // Holds each read of the service until the second save is done.
  const heldRead = Promise.withResolvers();
  const release = Promise.withResolvers();
  await page.route('**/internal/services/figures', async (route) => {
    const response = await route.fetch();
    heldRead.resolve();
    await release.promise;
    await route.fulfill({ response });
  });
  await region.evaluate((input) => {
    window.shown = [];
    // React writes the attribute whenever it renders another value.
    new MutationObserver(() => window.shown.push(input.value)).observe(input, { attributes: true, attributeFilter: ['value'] });
  });
  const setRegion = async (text) => {
    await region.fill(text);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('button[type=submit]:disabled:not([aria-busy])').waitFor();
  };
  const tested = async (said) => {
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(said).waitFor();
  };
  await setRegion('eu');
  await tested('region is set');
  await heldRead.promise;
  await setRegion('');
  release.resolve();
  await page.unrouteAll({ behavior: 'wait' });
  await tested('region is not set');
  assert.deepEqual(await page.evaluate(() => window.shown), ['eu', ''], 'a read that began before the second save restored the old value');
  done('a setting is set and taken away again');

  await visit(page, '/integrations/github');
  await page.getByLabel('Client id').fill('the-client');
  await page.getByLabel('Client secret').fill('the-client-secret');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('A secret is stored').waitFor();
  await page.getByRole('button', { name: 'Remove' }).waitFor();
  const tenant = await open(browser);
  look(tenant.page);
  await tenant.page.goto(`${asked.base}/sign-in`);
  await tenant.page.getByLabel('E-mail').fill(asked.tenant.email);
  await tenant.page.getByLabel('Password').fill(asked.tenant.password);
  await tenant.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tenant.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await visit(tenant.page, '/integrations/github');
  const theirs = tenant.page.getByText("The operator's application is used");
  await theirs.waitFor();
  assert.equal(await tenant.page.getByText('A secret is stored').count(), 0, 'the secret of another is not kept');
  assert.equal(await tenant.page.getByRole('button', { name: 'Remove' }).count(), 0);
  await tenant.page.getByLabel('Client id').fill('their-own');
  await tenant.page.getByRole('button', { name: 'Save' }).first().click();
  await tenant.page.getByRole('button', { name: 'Remove' }).waitFor();
  assert.equal(await theirs.count(), 0);
  assert.equal(await tenant.page.getByText('A secret is stored').count(), 0);
  look(page);
  done("a tenant's admin is promised nothing of the operator's application");

  await visit(page, '/knowledge');
  const file = page.locator('input[type=file]');
  await file.setInputFiles(asked.picture);
  const refusals = page.getByRole('alert').getByText('Only .txt, .md, .html and .pdf files are supported.');
  await refusals.waitFor();
  await file.setInputFiles(asked.other);
  await page.getByText('other.png').waitFor();
  await page.getByText('picture.png').waitFor();
  assert.equal(await refusals.count(), 2);
  await page.getByRole('button', { name: 'Dismiss picture.png' }).click();
  assert.equal(await refusals.count(), 1);
  done('what failed stays until it is dismissed');

  const forget = () => context.clearCookies({ name: 'toolgate_session' });
  await forget();
  await file.setInputFiles(asked.note);
  await page.getByRole('link', { name: 'Travel policy' }).waitFor();
  await visit(page, '/plugins');
  await forget();
  await page.setInputFiles('input[type=file]', { name: 'large.wasm', mimeType: 'application/wasm', buffer: Buffer.alloc(12_000_000) });
  await page.getByRole('alert').getByText(/invalid_request/).waitFor();
  done('files are sent by a page that was left alone for as long as a sign-in goes without renewal');

  const plain = await context.newPage();
  look(plain);
  await plain.addInitScript(() => Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined }));
  await visit(plain, '/integrations/github');
  await plain.getByRole('button', { name: 'Copy callback URL' }).click();
  await plain.getByText('Press Ctrl+C').waitFor();
  assert.equal(await plain.evaluate(() => String(getSelection())), `${asked.base}/oauth/callback/github`);
  done('where the browser gives no clipboard the text is selected');

  // A number that lost digits, a file that is not a plugin, a sign-in to renew.
  const noise = /status of (400|401|422)/;
  assert.deepEqual([...wrong, ...tenant.wrong].filter((line) => !noise.test(line)), []);
});
