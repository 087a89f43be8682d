// A plugin from its first upload over an upgrade that asks for more to the way back. `asked`: first,
// second (files of one service, the second asks for a host), bad.
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);

await walk(async (browser, look) => {
  const { context, page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  /** The version that serves; nothing once the service is gone. */
  const version = async () => {
    const answer = await ask(key, 'GET', '/v1/tools/search?query=grow+run&service=grow');
    assert.equal(answer.status, 200, JSON.stringify(answer));
    return answer.data.tools[0]?.version;
  };
  const upload = async (file) => {
    await visit(page, '/plugins');
    await page.setInputFiles('input[type=file]', file);
  };
  const change = (path, body, method = 'POST') =>
    page.evaluate(
      async ([at, sent, how]) => {
        const headers = { 'x-toolgate-dashboard': '1', 'content-type': 'application/json' };
        const answer = await fetch(`/internal${at}`, { method: how, headers, body: JSON.stringify(sent) });
        return { status: answer.status, ...(await answer.json()) };
      },
      [path, body, method],
    );

  await upload(asked.bad);
  await page.getByRole('alert').getByText(/invalid_request/).waitFor();
  assert.equal((await ask(key, 'GET', '/v1/health')).data.plugins.active, 0);
  done('a file that is not a plugin is refused with the reason');

  const other = await context.newPage();
  await visit(other, '/tools');
  await other.getByText('No tools here').waitFor();
  await live(other);
  await upload(asked.first);
  await page.getByRole('dialog').getByRole('button', { name: 'Grant and install' }).click();
  await page.getByRole('link', { name: 'Test grow' }).waitFor();
  assert.equal(await version(), '1.0.0');
  await other.getByText('grow_run').waitFor();
  await other.close();
  done('a first version is granted what it asks for, serves, and another page hears of it');

  await upload(asked.second);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This version asks for more').waitFor();
  await dialog.getByText('api.example.com').first().waitFor();
  await dialog.getByRole('button', { name: 'Upload the upgrade' }).click();
  await page.getByText('upgrade waits').first().waitFor();
  assert.equal(await version(), '1.0.0', 'the old one keeps serving');
  await visit(page, '/overview');
  await page.getByRole('link', { name: '1 plugin upgrade asks for more rights' }).click();
  await page.getByRole('link', { name: 'Test grow' }).click();
  await page.getByRole('heading', { name: 'Version 2.0.0 asks for more than 1.0.0' }).waitFor();
  await page.getByText('api.example.com').first().waitFor();
  const another = await change('/plugins/grow/approve', { sha256: '0'.repeat(64) });
  assert.deepEqual([another.status, another.error.code], [409, 'conflict'], JSON.stringify(another));
  done('an upgrade that asks for more waits, and only what was shown can be approved');

  await page.getByRole('button', { name: 'Approve the difference' }).click();
  const serves = page.getByRole('row').filter({ hasText: 'serves' });
  await serves.getByText('2.0.0').waitFor();
  assert.equal(await version(), '2.0.0');
  done('approved, the new version serves');

  await page.getByRole('button', { name: 'Roll back to this' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await serves.getByText('1.0.0').waitFor();
  assert.equal(await version(), '1.0.0');
  const unknown = await change('/plugins/grow/rollback', { sha256: '0'.repeat(64) });
  assert.equal(unknown.status, 404, JSON.stringify(unknown));
  done('the old version is brought back');

  for (const [ok, message] of [[false, 'region is not set'], [true, 'region is set']]) {
    if (ok) assert.equal((await change('/services/grow/settings', { set: { region: 'eu' } }, 'PUT')).status, 200);
    const tested = await change('/services/grow/test', {});
    assert.equal(tested.status, 200, JSON.stringify(tested));
    assert.deepEqual(tested.data, { ok, checks: [{ check: 'setting', ok, message }] });
  }
  const absent = await change('/services/nowhere/test', {});
  assert.deepEqual([absent.status, absent.error.code], [404, 'service_not_found']);
  done('a service is tested, and one that is not there is said to be so');

  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.waitForURL(`${asked.base}/plugins`);
  await page.getByRole('row').filter({ hasText: 'grow' }).getByText('removed', { exact: true }).waitFor();
  assert.equal(await version(), undefined);
  await visit(page, '/settings/audit');
  const log = await page.getByRole('table').innerText();
  for (const action of ['plugins.upload', 'plugins.approve', 'plugins.roll_back', 'plugins.remove']) {
    assert.ok(log.includes(action), `${action} in ${log}`);
  }
  done('removed, it serves no more, and the audit log has every step');

  const noise = /status of (400|404|409)/;
  assert.deepEqual(wrong.filter((line) => !noise.test(line)), []);
});
