// What a user sees of a connect link, on a phone, a tablet and a desk, in both themes: the form, a key that
// the provider refuses, Cancel, the way back and a popup. `asked`: token (that the provider takes), shots
// (a folder for pictures, or absent).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { ask, asked, createKey, open, serves, setUp, violations, walk } from './browser.mjs';

const done = (what) => console.log(what);
const SIZES = [[390, 844], [768, 1024], [1440, 900]];

const helper = stripTypeScriptTypes(readFileSync(new URL('../../sdk/clients/node/src/browser.ts', import.meta.url), 'utf8'));

/** An application with a page that opens a link in a popup, by the client's own helper, and shows what it is told. */
async function application() {
  const server = createServer((request, response) => {
    if (request.url === '/browser.js') {
      response.setHeader('content-type', 'text/javascript');
      response.end(helper);
      return;
    }
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><html lang="en"><title>App</title><h1>App</h1><button>Connect</button><p id="told">nothing</p><script type="module">
      import { openConnect } from '/browser.js';
      const link = new URLSearchParams(location.search).get('link');
      document.querySelector('button').onclick = async () => {
        document.getElementById('told').textContent = JSON.stringify(await openConnect(Promise.resolve(link)));
      };
    </script>`);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { server, port: server.address().port };
}

await walk(async (browser, look) => {
  const admin = await open(browser);
  look(admin.page);
  await setUp(admin.page);
  const key = await createKey(admin.page, 'agent', true);
  await serves(key, 'github_get_authenticated_user');
  const { server, port } = await application();
  const home = `http://localhost:${port}`;
  const registered = await admin.page.evaluate(async (origin) => {
    const headers = { 'content-type': 'application/json', 'x-toolgate-dashboard': '1' };
    return (await fetch('/internal/origins', { method: 'POST', headers, body: JSON.stringify({ origin }) })).status;
  }, home);
  assert.equal(registered, 201, 'an admin registers the origin of the application');
  await admin.context.close();
  const link = async (more = {}) => {
    const made = await ask(key, 'POST', '/v1/connections/link', { service: 'github', user_id: 'grace@example.com', ...more });
    assert.equal(made.status, 201, JSON.stringify(made));
    return made.data;
  };
  const state = async (id) => (await ask(key, 'GET', `/v1/connections/${id}`)).data?.state;

  for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark']) {
      const { connect_url, connection_id } = await link();
      const { context, page, wrong } = await open(browser, { viewport: { width, height }, colorScheme });
      look(page);
      const name = `${width} ${colorScheme}`;
      const fits = async () => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
        assert.deepEqual(await violations(page), [], name);
      };
      await page.goto(connect_url);
      await page.getByRole('heading', { name: 'Connect GitHub' }).waitFor();
      for (const part of [page.getByRole('textbox').or(page.locator('input[type=password]')), page.getByRole('button', { name: /connect GitHub/ }), page.getByRole('button', { name: 'Cancel' })]) {
        const box = await part.boundingBox();
        assert.ok(box && box.y + box.height <= height, `${name}: below the fold: ${JSON.stringify(box)}`);
      }
      assert.ok(await page.locator('.mark svg, .mark').first().isVisible());
      for (const heading of ['Read', 'Add and change', 'Delete, or do what cannot be undone']) await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      await fits();
      if (asked.shots) await page.screenshot({ path: `${asked.shots}/connect-${width}-${colorScheme}.png` });

      await page.locator('input[type=password]').fill('ghp_wrong');
      await page.getByRole('button', { name: /connect GitHub/ }).click();
      await page.getByRole('alert').getByText('GitHub did not accept it.').waitFor();
      assert.equal(await page.locator('input[type=password]').inputValue(), '', 'a secret is not written back');
      await fits();
      assert.equal(await state(connection_id), undefined);
      if (asked.shots) await page.screenshot({ path: `${asked.shots}/connect-refused-${width}-${colorScheme}.png` });

      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('Nothing was connected.').waitFor();
      await fits();
      await page.getByRole('link', { name: 'Connect after all' }).click();
      await page.locator('input[type=password]').fill(asked.token);
      await page.getByRole('button', { name: /connect GitHub/ }).click();
      await page.getByRole('heading', { name: 'Connected' }).waitFor();
      await page.getByText('GitHub is connected as octo-ada').waitFor();
      await fits();
      assert.equal(await state(connection_id), 'active');
      if (asked.shots) await page.screenshot({ path: `${asked.shots}/connected-${width}-${colorScheme}.png` });
      // A form that is shown again has the status 422.
      assert.deepEqual(wrong.filter((line) => !/status of 422/.test(line)), []);
      await context.close();
    }
  }
  done('a wrong key stays on the form and a right one is connected, at three widths in two themes');

  try {
    const { context, page } = await open(browser);
    look(page);
    const back = await link({ return_url: `${home}/settings` });
    await page.goto(back.connect_url);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(`${home}/settings?connect_status=cancelled&connection_id=${back.connection_id}`);
    await page.goto(back.connect_url);
    await page.locator('input[type=password]').fill(asked.token);
    await page.getByRole('button', { name: /connect GitHub/ }).click();
    await page.waitForURL(`${home}/settings?connect_status=connected&connection_id=${back.connection_id}`);
    done('the browser returns to the application');

    // The same server by another name is another origin: its page opens the same link and is told nothing.
    for (const [opener, told] of [[home, true], [`http://127.0.0.1:${port}`, false]]) {
      const { connect_url, connection_id } = await link({ popup_origin: home });
      await page.goto(`${opener}/?link=${encodeURIComponent(connect_url)}`);
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Connect' }).click();
      const popup = await opened;
      await popup.locator('input[type=password]').fill(asked.token);
      const closed = popup.waitForEvent('close');
      await popup.getByRole('button', { name: /connect GitHub/ }).click();
      await closed;
      assert.equal(await state(connection_id), 'active');
      await page.waitForFunction(() => document.getElementById('told').textContent !== 'nothing');
      const text = await page.locator('#told').innerText();
      const expected = told ? { status: 'connected', connection_id, service: 'github' } : { status: 'closed' };
      assert.deepEqual(JSON.parse(text), expected);
    }
    await context.close();
    done('a popup closes itself and tells only the origin that the link names');
  } finally {
    server.close();
  }
});
