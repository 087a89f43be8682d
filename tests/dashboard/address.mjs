// An integration from a pasted address: what is there is found out, its tools and rights are seen, it is installed; the
// steps on a phone, a tablet and a desk, in both themes. `address`: an MCP server with one tool.
import assert from 'node:assert/strict';
import { ask, asked, createKey, open, serves, setUp, signIn, violations, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const SIZES = [[390, 844], [768, 1024], [1440, 900]];

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await visit(page, '/plugins');
  const dialog = page.getByRole('dialog');
  const read = async (address) => {
    await dialog.getByLabel('Address', { exact: true }).fill(address);
    await dialog.getByRole('button', { name: 'Look at the address' }).click();
  };
  await page.getByRole('button', { name: 'Add integration' }).click();
  await read('https://10.0.0.5/mcp');
  await dialog.getByText('not a public https address').waitFor();
  assert.equal(await dialog.getByLabel('Address', { exact: true }).inputValue(), 'https://10.0.0.5/mcp', 'what was typed stays');
  done('a private address is refused with the next step');

  await read(asked.address);
  await dialog.getByText('do_it', { exact: true }).waitFor();
  await dialog.getByLabel('Service name').fill('pasted');
  await dialog.getByRole('button', { name: 'Review the rights' }).click();
  await dialog.getByText('What you grant').waitFor();
  assert.equal((await ask(key, 'GET', '/v1/tools/pasted_do_it/schema')).success, false, 'nothing is installed yet');
  done('the tools and the rights are shown before anything is installed');

  await dialog.getByRole('button', { name: 'Grant and install' }).click();
  await serves(key, 'pasted_do_it');
  const ran = await ask(key, 'POST', '/v1/tools/pasted_do_it/execute', { arguments: {} });
  assert.equal(ran.data.result, 'done', JSON.stringify(ran));
  done('the integration is installed under the chosen name and runs');

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
      await one.page.getByRole('button', { name: 'Add integration' }).click();
      await fits('address');
      await box.getByLabel('Address', { exact: true }).fill(asked.address);
      await box.getByRole('button', { name: 'Look at the address' }).click();
      await box.getByText('do_it', { exact: true }).waitFor();
      await fits('address-server');
      all.push(...one.wrong);
      await one.context.close();
    }
  }
  done('the steps fit and are accessible at three widths in two themes');
  // The refused address is the browser's own message about a status of 400.
  assert.deepEqual(all.filter((text) => !text.includes('/internal/addresses/read')), []);
});
