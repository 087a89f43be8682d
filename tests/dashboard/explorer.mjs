// Finds a call that failed among others and learns why, on a phone, a tablet and a desk, in both themes.
// `asked`: token (that the provider takes), words (what it says to a bad issue), shots (a folder, or absent).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ask, asked, createKey, open, serves, setUp, signIn, violations, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const SIZES = [[390, 844], [768, 1024], [1440, 900]];

await walk(async (browser, look) => {
  const { context, page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'github_create_issue');
  const run = (tool, args) => ask(key, 'POST', `/v1/tools/${tool}/execute`, { arguments: args });
  const { connect_url } = (await ask(key, 'POST', '/v1/connections/link', { service: 'github' })).data;
  const shown = await fetch(connect_url);
  const cookie = shown.headers.get('set-cookie').split(';')[0];
  const [, field] = /name="page" value="([^"]+)"/.exec(await shown.text());
  const connected = await fetch(connect_url, { method: 'POST', headers: { cookie }, body: new URLSearchParams({ page: field, f_secret: asked.token }) });
  assert.equal(connected.status, 200, await connected.text());
  assert.equal((await run('github_get_authenticated_user', {})).data.status, 'success');
  const failed = (await run('github_create_issue', { owner: 'ada', repo: 'engine', title: 'x' })).data;
  assert.equal(failed.status, 'error', JSON.stringify(failed));

  // The part of a name, and each further filter, is in the address and outlives a reload.
  await visit(page, '/executions');
  const rows = page.getByRole('row').filter({ has: page.getByRole('link', { name: /^github_/ }) });
  await page.getByRole('link', { name: 'github_create_issue' }).waitFor();
  assert.equal(await rows.count(), 2);
  await page.getByLabel('Tool', { exact: true }).fill('ISSUE');
  await page.getByRole('link', { name: 'github_get_authenticated_user' }).waitFor({ state: 'detached' });
  for (const [label, value] of [['Service', 'github'], ['Status', 'error'], ['Code', 'provider_error'], ['Time', '24h']]) await page.getByLabel(label, { exact: true }).selectOption(value);
  await page.getByLabel('Key', { exact: true }).selectOption({ label: 'agent' });
  const search = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
  const { key: prefix, ...others } = await search();
  assert.deepEqual(others, { tool: 'ISSUE', service: 'github', status: 'error', reason: 'provider_error', since: '24h' });
  assert.match(prefix, /^\w{8}$/);
  await page.reload();
  await page.getByRole('link', { name: 'github_create_issue' }).waitFor();
  assert.equal(await page.getByLabel('Tool', { exact: true }).inputValue(), 'ISSUE');
  await page.getByLabel('Code', { exact: true }).selectOption('timeout');
  await page.getByText('No matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByRole('link', { name: 'github_get_authenticated_user' }).waitFor();
  assert.deepEqual(await search(), {});
  done('executions are found by a part of their name, service, key, status, code and time');

  await page.getByLabel('Tool', { exact: true }).fill('create');
  await page.getByRole('link', { name: 'github_get_authenticated_user' }).waitFor({ state: 'detached' });
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  const file = await saved;
  assert.equal(file.suggestedFilename(), 'executions.csv');
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n');
  assert.equal(lines.length, 2);
  assert.ok(lines[1].startsWith(`${failed.execution_id},`) && lines[1].includes('provider_error'), lines[1]);
  done('what is found is exported');

  await page.getByRole('link', { name: 'github_create_issue' }).click();
  await page.getByText(asked.words).waitFor();
  await page.getByText('api.github.com answered 422').waitFor();
  await page.locator('.waterfall .request-bar').waitFor();
  await page.getByRole('button', { name: 'Copy as ...' }).click();
  for (const language of ['curl', 'Python', 'TypeScript', 'MCP']) {
    await page.getByRole('tab', { name: language }).click();
    await page.getByRole('tabpanel').getByText('github_create_issue').waitFor();
  }
  done('a failed call says why in the words of the provider, and is copied for a program');

  await visit(page, '/executions');
  await page.getByRole('checkbox', { name: /^Compare github_get_authenticated_user/ }).check();
  assert.ok(await page.getByRole('button', { name: 'Select another to compare' }).isDisabled());
  await page.getByRole('checkbox', { name: /^Compare github_create_issue/ }).check();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('heading', { name: 'Compare executions' }).waitFor();
  await page.getByText(asked.words).waitFor();
  const marked = await page.locator('mark.differs').allInnerTexts();
  for (const text of ['github_create_issue', 'github_get_authenticated_user', 'POST api.github.com/repos/ada/engine/issues', '422']) assert.ok(marked.includes(text), `${text} in ${marked}`);
  assert.ok(!marked.includes('default'), 'what is the same is not marked');
  const compared = new URL(page.url());
  done('two executions are compared');
  await context.close();

  const all = [...wrong];
  for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark']) {
      const one = await open(browser, { viewport: { width, height }, colorScheme });
      look(one.page);
      await signIn(one.page);
      for (const [name, path, text] of [['executions', '/executions', 'github_create_issue'], ['execution', `/executions/${failed.execution_id}`, asked.words], ['compare', compared.pathname + compared.search, asked.words]]) {
        await visit(one.page, path);
        await one.page.getByText(text).first().waitFor();
        const wide = await one.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}, ${width} ${colorScheme}: ${wide} pixels too wide`);
        assert.deepEqual(await violations(one.page), [], `${name}, ${width} ${colorScheme}`);
        if (asked.shots) await one.page.screenshot({ path: `${asked.shots}/${name}-${width}-${colorScheme}.png` });
      }
      all.push(...one.wrong);
      await one.context.close();
    }
  }
  done('the pages fit and are accessible at three widths in two themes');
  assert.deepEqual(all, []);
});
