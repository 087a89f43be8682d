// An integration from a pasted description: operations chosen, rights seen, installed; on a phone, a tablet and a desk, in
// both themes.
import assert from 'node:assert/strict';
import { ask, createKey, open, serves, setUp, signIn, violations, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const SIZES = [[390, 844], [768, 1024], [1440, 900]];
const operation = (operationId, summary, more) => ({ operationId, summary, responses: { 200: { description: 'ok' } }, ...more });
const DESCRIPTION = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Ice Cream Shop', version: '1.2.0', description: 'Cones and flavours of a shop that sells ice cream.' },
  servers: [{ url: 'https://api.ice.example.com' }],
  paths: {
    '/cones': { get: operation('list_cones', 'Lists all cones'), post: operation('add_cone', 'Adds a cone') },
    '/cones/{id}': { delete: operation('eat_cone', 'Eats a cone', { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] }) },
  },
});

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await visit(page, '/plugins');
  const dialog = page.getByRole('dialog');
  const begin = () => page.getByRole('button', { name: 'Add from a description' }).click();
  const read = async (text) => {
    await dialog.getByLabel('Description', { exact: true }).fill(text);
    await dialog.getByRole('button', { name: 'Read the description' }).click();
  };
  await begin();
  await read('openapi: 3.1.0\npaths: {}');
  await dialog.getByText('has no operation').waitFor();
  assert.equal(await dialog.getByLabel('Description', { exact: true }).inputValue(), 'openapi: 3.1.0\npaths: {}', 'what was typed stays');
  done('what is not a description is refused with a reason');

  await read(DESCRIPTION);
  await dialog.getByText('3 of 3 operations selected').waitFor();
  await dialog.getByRole('checkbox', { name: /^DELETE/ }).uncheck();
  await dialog.getByRole('checkbox', { name: /^POST/ }).uncheck();
  await dialog.getByLabel('Service name').fill('ice');
  await dialog.getByRole('button', { name: 'Build and review 1 operation' }).click();
  await dialog.getByText('What you grant').waitFor();
  await dialog.getByText('api.ice.example.com').first().waitFor();
  assert.equal((await ask(key, 'GET', '/v1/tools/ice_list_cones/schema')).success, false, 'nothing is installed yet');
  done('operations are chosen, and the rights are shown before anything is installed');

  await dialog.getByRole('button', { name: 'Grant and install' }).click();
  await page.getByRole('link', { name: 'Ice Cream Shop' }).waitFor();
  await serves(key, 'ice_list_cones');
  const planned = await ask(key, 'POST', '/v1/tools/ice_list_cones/execute', { arguments: {}, dry_run: true });
  assert.equal(planned.data.requests[0].url, 'https://api.ice.example.com/cones', JSON.stringify(planned));
  assert.equal((await ask(key, 'GET', '/v1/tools/ice_add_cone/schema')).success, false, 'what was not chosen is not a tool');
  done('the integration is installed and plans its request');

  const all = [...wrong];
  for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark']) {
      const one = await open(browser, { viewport: { width, height }, colorScheme });
      look(one.page);
      await signIn(one.page);
      const fits = async (name) => {
        const wide = await one.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}, ${width} ${colorScheme}: ${wide} pixels too wide`);
        assert.deepEqual(await violations(one.page), [], `${name}, ${width} ${colorScheme}`);
      };
      const box = one.page.getByRole('dialog');
      await visit(one.page, '/plugins');
      await one.page.getByRole('button', { name: 'Add from a description' }).click();
      await fits('describe');
      await box.getByLabel('Description', { exact: true }).fill(DESCRIPTION);
      await box.getByRole('button', { name: 'Read the description' }).click();
      await box.getByText('3 of 3 operations selected').waitFor();
      await fits('describe-choose');
      all.push(...one.wrong);
      await one.context.close();
    }
  }
  done('the steps fit and are accessible at three widths in two themes');
  // The refused description is the browser's own message about a status of 400.
  assert.deepEqual(all.filter((text) => !text.includes('/internal/descriptions/read')), []);
});
