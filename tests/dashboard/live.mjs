// What a page that stays open goes through: the gateway starts again, a proxy answers for it, tabs in
// the background, the end of the sign-in. `asked`: restart (POST it, and the gateway starts again).
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, owner, says, serves, setUp, settled, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
/** More than the connections that a browser opens to one host over HTTP/1.1. */
const TABS = 7;

/** Tells a page that it is looked at, or not: without a screen a browser shows every tab. */
const look = (page, hidden) =>
  page.evaluate((now) => {
    for (const [name, value] of [['hidden', now], ['visibilityState', now ? 'hidden' : 'visible']]) Object.defineProperty(document, name, { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

await walk(async (browser, watch) => {
  const { context, page, wrong } = await open(browser);
  watch(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'words_count');
  /** A call whose user nobody else is. */
  const call = async (user_id) => {
    const answer = await ask(key, 'POST', '/v1/tools/words_count/execute', { arguments: { text: 'to be' }, user_id });
    assert.equal(answer.status, 200, JSON.stringify(answer));
  };
  const row = (user, on = page) => on.getByRole('row').filter({ hasText: user });
  /** Until the gateway takes calls again. */
  const back = async () => {
    for (;;) {
      const up = await serves(key, 'words_count').then(() => true, () => false);
      if (up) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };

  await visit(page, '/executions');
  await live(page);
  await page.evaluate(() => { window.stayed = true; });
  await fetch(asked.restart, { method: 'POST' });
  await says(page, 'reconnecting');
  await back();
  await call('meanwhile');
  await row('meanwhile').waitFor();
  await live(page);
  await call('afterwards');
  await row('afterwards').waitFor();
  done('after a restart a page is live again, and shows what happened meanwhile and afterwards');

  let tries = 0;
  const down = (route) => route.fulfill({ status: 502, body: 'Bad Gateway' });
  await context.route('**/internal/live', down);
  await context.route('**/internal/welcome', down);
  await context.route('**/internal/refresh', (route) => {
    tries += 1;
    return down(route);
  });
  await look(page, true);
  await look(page, false);
  await says(page, 'reconnecting');
  while (tries < 2) await page.waitForRequest('**/internal/refresh');
  await call('behind-a-proxy');
  // On a machine without a network the browser says so first.
  const said = /The gateway does not answer|You are offline/;
  const outage = page.getByRole('status').filter({ hasText: said });
  await outage.waitFor();
  await context.clearCookies({ name: 'toolgate_session' });
  await page.getByRole('link', { name: 'Skills', exact: true }).click();
  await page.getByRole('alert').getByText(said).waitFor();
  assert.equal(new URL(page.url()).pathname, '/skills', 'the page stays');
  await context.unrouteAll();
  await live(page);
  await outage.waitFor({ state: 'detached' });
  await page.getByText('No Skills yet').waitFor();
  await page.getByRole('link', { name: 'Executions', exact: true }).click();
  await row('behind-a-proxy').waitFor();
  assert.ok(await page.evaluate(() => window.stayed), 'without a reload');
  done('a proxy that answers for the gateway signs nobody out, and the page says so and recovers by itself');

  const tabs = [];
  for (let n = 0; n < TABS; n += 1) {
    const tab = await context.newPage();
    watch(tab);
    await visit(tab, '/executions');
    await live(tab);
    tabs.push(tab);
    if (n < TABS - 1) await look(tab, true);
    else await look(page, true);
  }
  await call('in-the-background');
  await row('in-the-background', tabs.at(-1)).waitFor();
  assert.equal(await row('in-the-background', tabs[0]).count(), 0, 'who is not looked at does not listen');
  await look(tabs.at(-1), true);
  await look(tabs[0], false);
  await row('in-the-background', tabs[0]).waitFor();
  done('more tabs than connections stay usable, and a tab that is looked at again has caught up');
  for (const tab of tabs) await tab.close();
  watch(page);
  await look(page, false);

  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await settled(page);
  await live(page);
  const tool = page.getByRole('link', { name: 'words_count' });
  await tool.waitFor();
  const rule = async (permission) => assert.equal((await ask(key, 'PATCH', `/v1/permissions/users/${owner.email}/tools/words_count`, { permission })).status, 200);
  await rule('deny');
  await tool.waitFor({ state: 'detached' });
  await rule('allow');
  await tool.waitFor();
  // A part that does not come is waited for; one that an upgrade took away begins the page anew.
  await page.evaluate(() => { window.stayed = true; });
  let refused = 0;
  await context.route('**/assets/webhooks-*.js', (route) => {
    refused += 1;
    return route.abort();
  });
  await context.route(`${asked.base}/`, down);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  while (refused < 2) await page.waitForRequest('**/assets/webhooks-*.js');
  await context.unrouteAll();
  await page.getByText('No webhooks yet').waitFor();
  assert.ok(await page.evaluate(() => window.stayed), 'without a reload');
  let isUpgraded = false;
  await context.route('**/assets/knowledge-*.js', (route) => (isUpgraded ? route.continue() : route.fulfill({ status: 404, body: 'not found' })));
  await context.route(`${asked.base}/`, (route) => {
    if (isUpgraded) return route.continue();
    isUpgraded = true;
    return route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/assets/index-newer.js"></script>' });
  });
  await page.getByRole('link', { name: 'Knowledge', exact: true }).click();
  await page.getByText('No documents yet').waitFor();
  assert.ok(isUpgraded && !(await page.evaluate(() => window.stayed)), 'by a reload');
  await context.unrouteAll();
  done('the tools follow the permissions, and a part that is missing comes by itself');

  await visit(page, '/tools/words_count');
  await live(page);
  await page.getByLabel('text required').fill('half a thought');
  await page.evaluate(() => { window.stayed = true; });
  await page.evaluate(() => fetch('/internal/sign-out', { method: 'POST', headers: { 'x-toolgate-dashboard': '1', 'content-type': 'application/json' }, body: '{}' }));
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.waitFor();
  await page.keyboard.press('Escape');
  await again.getByLabel('Password').fill('not my password');
  await again.getByRole('button', { name: 'Sign in', exact: true }).click();
  await again.getByRole('alert').getByText('Wrong e-mail or password').waitFor();
  assert.equal(await again.getByLabel('E-mail').inputValue(), owner.email);
  await again.getByLabel('Password').fill(owner.password);
  await again.getByRole('button', { name: 'Sign in', exact: true }).click();
  await again.waitFor({ state: 'detached' });
  await live(page);
  assert.equal(await page.getByLabel('text required').inputValue(), 'half a thought');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('No request left the gateway').waitFor();
  assert.ok(await page.evaluate(() => window.stayed), 'the page stayed');
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  await page.goto(`${asked.base}/executions?status=error`);
  await page.waitForURL((url) => url.pathname === '/sign-in' && url.searchParams.get('return_to') === '/executions?status=error');
  done('who signs out in one tab signs in again in the others, which keep what was typed');

  // Only an address of this page's own is gone to afterwards, as the browser reads addresses.
  for (const place of ['/%09/evil.test', '/%0a/evil.test', '//evil.test', '/%5Cevil.test', '/.//evil.test', 'https://evil.test/', 'javascript:alert(1)', '/skills?query=a']) {
    await page.goto(`${asked.base}/sign-in?return_to=${place}`);
    await page.getByLabel('E-mail').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const there = `${asked.base}${place.startsWith('/skills') ? place : '/overview'}`;
    await page.waitForURL((url) => url.href === there);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  done('a sign-in leads to a page of the dashboard, whatever the address asks for');

  // The browser says on its console what this walk took away.
  const noise = /ERR_FAILED|dynamically imported module|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|status of (401|404|502|503)/;
  assert.deepEqual(wrong.filter((line) => !noise.test(line)), []);
});
