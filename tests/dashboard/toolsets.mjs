// A toolset from the form to what an MCP client lists at its address: made, refused, changed and deleted; the
// page hears of a rule that takes a tool out of it.
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, serves, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);

/** The names that a client lists at an address, or the status of the refusal. */
async function listed(key, url) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
  });
  if (!response.ok) return response.status;
  return (await response.json()).result.tools.map((tool) => tool.name);
}

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'words_count');
  await ask(key, 'POST', '/v1/skills', { name: 'Weekly report', summary: 'On Fridays', instructions: 'Count.' });

  await visit(page, '/toolsets');
  await page.getByText('No toolsets yet').waitFor();
  await page.getByRole('button', { name: 'New toolset' }).first().click();
  const dialog = page.getByRole('dialog');
  const find = async (words, name) => {
    await dialog.getByRole('searchbox', { name: /^Add tools/ }).fill(words);
    await dialog.getByRole('button', { name: `Add ${name}`, exact: true }).first().click();
  };
  await dialog.getByLabel('Name').fill('Reports');
  await dialog.getByLabel('Title').fill('Reports');
  await find('count the words', 'words_count');
  await find('weekly', 'Weekly report');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').getByText(/invalid_request/).waitFor();
  await dialog.getByLabel('Name').fill('reports');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
  const url = (await page.locator('.copy-line code').first().innerText()).trim();
  assert.equal(url, `${asked.base}/mcp/t/reports`);
  await page.getByRole('link', { name: 'skill_weekly_report' }).waitFor();
  assert.deepEqual(await listed(key, url), ['skill_weekly_report', 'words_count']);
  done('a toolset is made of what was found, a name that cannot be is refused, and a client lists it');

  await live(page);
  const rule = { permission: 'deny' };
  await ask(key, 'PATCH', '/v1/permissions/users/ada@example.com/tools/words_count', rule);
  await page.getByRole('link', { name: 'words_count' }).waitFor({ state: 'detached' });
  assert.deepEqual(await listed(key, url), ['skill_weekly_report']);
  await ask(key, 'PATCH', '/v1/permissions/users/ada@example.com/tools/words_count', { permission: 'allow' });
  await page.getByRole('link', { name: 'words_count' }).waitFor();
  assert.deepEqual(await listed(key, url), ['skill_weekly_report', 'words_count']);
  done('the page lists what the permissions of who looks at it allow');

  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByRole('button', { name: 'Remove Weekly report' }).click();
  await dialog.getByLabel(/List the tools of the main address/).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const now = await listed(key, url);
  assert.deepEqual([now.length, now[0], now.at(-1)], [10, 'svc_health_check', 'words_count']);
  done('a change of the form is what the client lists');

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No toolsets yet').waitFor();
  assert.equal(await listed(key, url), 404);
  done('a deleted toolset answers 404');

  // The refusal of the name that cannot be.
  assert.deepEqual(wrong.filter((line) => !line.includes('status of 400')), []);
});
