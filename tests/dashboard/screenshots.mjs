// One picture of each page for docs/screenshots. `asked`: out.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, asked, createKey, open, paints, setUp, settled, until, visit, walk } from './browser.mjs';
import { furnish, places } from './places.mjs';

/** Dark ones among them, so that both can be seen. */
const DARK = new Set(['tool', 'executions', 'plugin', 'permissions']);

await walk(async (browser, look) => {
  await mkdir(asked.out, { recursive: true });
  const shot = (page, name) => page.screenshot({ path: join(asked.out, `${name}.png`), animations: 'disabled' });
  const viewport = { width: 1200, height: 760 };
  const { page, context } = await open(browser, { viewport });
  look(page);
  await page.goto(asked.setup_url);
  await page.getByLabel('Password again').waitFor();
  await shot(page, 'setup');
  await setUp(page);
  const key = await createKey(page, 'research agent', true);
  // Plugins are compiled once, in the background; the pictures are of a gateway that is done.
  await until(key, '/v1/health', (answer) => answer.data?.plugins.active >= asked.plugins, 600_000);
  const of = await furnish(key);
  await createKey(page, 'staging');
  const storageState = await context.storageState();
  for (const [name, path, press] of [['sign-in', '/sign-in'], ...places(of)].filter(([name]) => name !== 'nowhere')) {
    const { page: own } = await open(browser, { viewport, storageState, colorScheme: DARK.has(name) ? 'dark' : 'light' });
    look(own);
    await visit(own, path);
    if (press) await press(own);
    await settled(own);
    if (name === 'tool') {
      await own.getByLabel('text required').fill('to be or not to be');
      await own.getByRole('button', { name: 'Run', exact: true }).click();
      await own.getByText('No request left the gateway').waitFor();
    }
    await own.waitForLoadState('load');
    await shot(own, name);
    await own.close();
    console.log(name);
  }
  const { connect_url } = (await ask(key, 'POST', '/v1/connections/link', { service: 'github', user_id: 'grace@example.com' })).data;
  for (const [name, size, colorScheme] of [['connect', viewport, 'light'], ['connect-phone', { width: 390, height: 844 }, 'dark']]) {
    const { page: own } = await open(browser, { viewport: size, colorScheme });
    look(own);
    await own.goto(connect_url);
    await own.getByRole('heading', { name: 'Connect GitHub' }).waitFor();
    await shot(own, name);
    await own.close();
    console.log(name);
  }
  const { page: empty } = await open(browser, { viewport, storageState });
  for (const path of ['/overview', '/tools', '/integrations', '/executions']) {
    const { first, useful } = await paints(empty, path);
    console.log(`paint of ${path} without a cache: first ${Math.round(first)} ms, useful ${Math.round(useful)} ms`);
  }
});
