// Calls that wait for a person: read, decided together, and a rule for those that follow; on a phone, a tablet and a desk,
// in both themes. `asked`: purge, a tool that declares that it destroys.
import assert from 'node:assert/strict';
import { ask, asked, createKey, live, open, serves, setUp, signIn, until, violations, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const SIZES = [[390, 844], [768, 1024], [1440, 900]];

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'words_count');
  await serves(key, asked.purge);
  const run = async (tool, user_id, args) => (await ask(key, 'POST', `/v1/tools/${tool}/execute`, { arguments: args, user_id })).data;
  const parked = async (tool, user_id, args) => {
    const call = await run(tool, user_id, args);
    assert.equal(call.status, 'approval_required', JSON.stringify(call));
    return call;
  };
  for (const [user, tool] of [['charles', 'words_count'], ['charles', asked.purge], ['mary', 'words_count'], ['grace', 'words_count']]) {
    assert.equal((await ask(key, 'PATCH', `/v1/permissions/users/${user}/tools/${tool}`, { permission: 'ask' })).success, true);
  }
  const status = async (call) => (await ask(key, 'GET', `/v1/approvals/${call.approval_id}`)).data.status;

  // Several at once: their contents are there before anybody decides.
  const first = await parked('words_count', 'charles', { text: 'the first of\ntwo lines' });
  const purge = await parked(asked.purge, 'charles', {});
  const mary = await parked('words_count', 'mary', { text: 'of mary' });
  await visit(page, '/approvals');
  const review = page.getByRole('button', { name: /^Review/ });
  assert.ok(await review.isDisabled(), 'nothing is selected');
  await page.getByRole('button', { name: 'Select all' }).click();
  await page.getByRole('button', { name: 'Review 3 calls' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('the first of').waitFor();
  await dialog.getByText('of mary').waitFor();
  await dialog.getByRole('button', { name: 'Approve all, 1 destructive' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await status(mary), 'pending', 'looking decides nothing');
  done('several calls are reviewed together, with what each of them says');

  // A destructive call is confirmed, a readable form can be read as JSON.
  await page.goto(purge.approval_url);
  await page.getByRole('button', { name: `Approve ${asked.purge}` }).click();
  await dialog.getByText('may not come back').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await status(purge), 'pending');
  await page.getByRole('button', { name: `Approve ${asked.purge}` }).click();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('approved', { exact: true }).waitFor();
  assert.equal((await run(asked.purge, 'charles', {})).status, 'success');
  await page.goto(first.approval_url);
  await page.getByText('the first of').waitFor();
  await page.getByRole('button', { name: 'Show as JSON' }).click();
  await page.getByText('"text": "the first of\\ntwo lines"').waitFor();
  done('a destructive call is confirmed before it is approved');

  // For an hour: this call, and those that follow, with any arguments. The page says "approved" only when the rule is
  // saved, however slow the network is.
  const rules = '**/internal/permissions/users/**';
  await page.route(rules, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await route.continue();
  });
  await page.getByRole('button', { name: 'More options for words_count' }).click();
  await page.getByRole('menuitem', { name: 'Approve, and allow this tool for an hour' }).click();
  await dialog.getByText('with any arguments').waitFor();
  await dialog.getByRole('button', { name: 'Approve and allow for an hour' }).click();
  await page.getByText('approved', { exact: true }).waitFor();
  assert.equal((await run('words_count', 'charles', { text: 'other words' })).status, 'success');
  const { limited } = (await ask(key, 'GET', '/v1/permissions/users/charles')).data;
  const [rule] = limited.filter((one) => one.tool_name === 'words_count');
  const left = new Date(rule.expires_at).getTime() - Date.now();
  assert.ok(left > 3_500_000 && left <= 3_600_000, JSON.stringify(limited));
  assert.equal(await status(mary), 'pending', "another user's call waits");
  await page.unroute(rules);
  done('an admin allows the tool for an hour while approving');

  // The rule cannot be saved: the call is approved once, and the error is shown.
  const lost = await parked('words_count', 'grace', { text: 'before the network is lost' });
  await page.route(rules, (route) => route.abort());
  await page.goto(lost.approval_url);
  await page.getByRole('button', { name: 'More options for words_count' }).click();
  await page.getByRole('menuitem', { name: 'Approve, and always allow this tool' }).click();
  await dialog.getByRole('button', { name: 'Approve and allow always' }).click();
  await page.getByText('The gateway does not answer.', { exact: true }).waitFor();
  await page.getByText('approved', { exact: true }).waitFor();
  await page.unroute(rules);
  assert.equal((await run('words_count', 'grace', { text: 'before the network is lost' })).status, 'success');
  done('a rule that could not be saved is reported, and the call is approved');

  const grace = await parked('words_count', 'grace', { text: 'of grace' });
  await visit(page, '/approvals');
  await page.getByRole('checkbox', { name: 'Select words_count for mary' }).check();
  await page.getByRole('checkbox', { name: 'Select words_count for grace' }).check();
  await page.getByRole('button', { name: 'Review 2 calls' }).click();
  await dialog.getByRole('button', { name: 'Deny all' }).click();
  await page.getByText('Nothing to approve').waitFor();
  assert.deepEqual([await status(mary), await status(grace)], ['denied', 'denied']);
  done('several calls are denied together');

  // A list does not move under the mouse.
  const still = await parked('words_count', 'mary', { text: 'under the mouse' });
  await page.getByRole('article', { name: 'words_count for mary' }).hover();
  await live(page);
  const newer = await parked('words_count', 'grace', { text: 'newer' });
  await page.getByText('1 new call: shown when you leave the list').waitFor();
  assert.equal(await page.getByRole('article').count(), 1, 'the new call is not shown yet');
  await page.mouse.move(0, 0);
  await page.getByRole('article', { name: 'words_count for grace' }).waitFor();
  // As by another member's page, of which this one hears.
  const answer = await page.evaluate(async (id) => {
    const headers = { 'content-type': 'application/json', 'x-toolgate-dashboard': '1' };
    return (await fetch(`/internal/approvals/${id}`, { method: 'POST', headers, body: JSON.stringify({ decision: 'deny' }) })).status;
  }, newer.approval_id);
  assert.equal(answer, 200);
  await page.getByRole('article', { name: 'words_count for grace' }).waitFor({ state: 'detached' });
  done('a list that is pointed at keeps its rows in their places');

  // Taken back, and left by closing the page: neither decision is sent. The one after them is, also from another page; had
  // the others been sent, they would have been before it.
  const sent = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes('/internal/approvals/')) sent.push(request.postDataJSON().decision);
  });
  page.on('dialog', (asks) => asks.accept());
  await visit(page, '/approvals');
  const approve = page.getByRole('button', { name: 'Approve words_count' });
  await approve.click();
  await page.getByRole('button', { name: 'Take back: Approve words_count for mary' }).click();
  await approve.click();
  await page.getByRole('region', { name: 'Decisions that can be undone' }).getByText('Closing this tab sends nothing.').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Deny words_count' }).click();
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await page.getByRole('button', { name: 'Undo: Deny words_count for mary' }).waitFor();
  await until(key, `/v1/approvals/${still.approval_id}`, ({ data }) => data.status === 'denied');
  assert.deepEqual(sent, ['deny']);
  done('a decision is sent after a while, from whatever page, unless it is taken back or the tab is closed');

  // The browser logs an error for the request that was aborted on purpose.
  const all = wrong.filter((line) => !line.includes('net::ERR_FAILED'));
  for (const text of ['one', 'two']) await parked('words_count', 'grace', { text });
  for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark']) {
      const one = await open(browser, { viewport: { width, height }, colorScheme });
      look(one.page);
      await signIn(one.page);
      const fits = async (name) => {
        const wide = await one.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}, ${width} ${colorScheme}: ${wide} pixels too wide`);
        assert.deepEqual(await violations(one.page), [], `${name}, ${width} ${colorScheme}`);
        if (asked.shots) await one.page.screenshot({ path: `${asked.shots}/${name}-${width}-${colorScheme}.png` });
      };
      await visit(one.page, '/approvals');
      await one.page.getByRole('button', { name: 'Select all' }).click();
      await fits('approvals');
      await one.page.getByRole('button', { name: 'Review 2 calls' }).click();
      await one.page.getByRole('dialog').getByText('one', { exact: true }).waitFor();
      await fits('approvals-review');
      await visit(one.page, new URL(purge.approval_url).pathname);
      await one.page.getByText('Planned requests').waitFor();
      await fits('approval');
      all.push(...one.wrong);
      await one.context.close();
    }
  }
  done('approvals fit and are accessible at three widths in two themes');
  assert.deepEqual(all, []);
});
