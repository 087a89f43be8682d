// Looks at every page, light and dark, on a telephone and a screen: nothing more than minor for axe-core, no console
// error, no refusal of the policy, no request elsewhere. Nothing is wider than the screen, a tablet's and 360 pixels too.
import assert from 'node:assert/strict';
import { ask, asked, createKey, open, paints, setUp, settled, signIn, violations, visit, walk } from './browser.mjs';
import { furnish, places } from './places.mjs';

/** By how many pixels a page is wider than its window. */
const excess = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

await walk(async (browser, look) => {
  const first = await open(browser);
  look(first.page);
  await first.page.goto(`${asked.base}/sign-in`);
  await first.page.getByText('This gateway has not been set up yet').waitFor();
  await setUp(first.page);
  const key = await createKey(first.page, 'agent', true);
  const of = await furnish(key);
  // Each browser signs in by itself: a copied cookie is a stolen one, and ends the sign-in.
  const enter = async (options) => {
    const opened = await open(browser, options);
    look(opened.page);
    await signIn(opened.page);
    return opened;
  };
  const all = [...first.wrong];

  const gates = [['sign-in', '/sign-in'], ['setup-without-token', '/setup']];
  // Colours are those of the theme at every width, and places those of the width in both themes.
  const views = [[1440, 900, 'light', true], [1440, 900, 'dark', true], [390, 844, 'light', true], [768, 1024, 'dark', false]];
  for (const [width, height, colorScheme, judged] of views) {
    const { page, wrong } = await enter({ colorScheme, viewport: { width, height } });
    for (const [name, path, press] of [...gates, ...places(of)]) {
      const shown = `${name}, ${colorScheme}, ${width} px`;
      await visit(page, path);
      if (press) await press(page);
      await settled(page);
      if (judged) assert.deepEqual(await violations(page), [], shown);
      assert.equal(await excess(page), 0, `${shown}: wider than the screen`);
    }
    console.log(`every page, ${colorScheme}, ${width} px: ${judged ? 'nothing more than minor' : 'not wider'}`);
    all.push(...wrong);
    await page.close();
  }

  const narrow = await enter({ viewport: { width: 360, height: 740 } });
  for (const [name, path, press] of [...gates, ...places(of)]) {
    await visit(narrow.page, path);
    if (press) await press(narrow.page);
    await settled(narrow.page);
    assert.equal(await excess(narrow.page), 0, `${name} is wider than 360 px`);
  }
  await visit(narrow.page, '/executions?status=error');
  assert.equal(await narrow.page.getByLabel('Status', { exact: true }).isVisible(), false, 'choices are folded');
  await narrow.page.getByRole('button', { name: 'Filters (1 set)' }).click();
  await narrow.page.getByLabel('Status', { exact: true }).waitFor();
  assert.equal(await excess(narrow.page), 0, 'open filters are wider than 360 px');
  await narrow.page.getByRole('button', { name: 'Open navigation' }).click();
  await narrow.page.getByRole('dialog').getByRole('link', { name: 'Skills' }).click();
  await narrow.page.getByRole('heading', { name: 'Skills', level: 1 }).waitFor();
  all.push(...narrow.wrong);
  console.log('every page fits 360 pixels');

  const long = 'x'.repeat(128);
  const text = '/v1/tools/words_count/execute';
  assert.equal((await ask(key, 'POST', text, { arguments: { text: 'one' }, user_id: long })).status, 200);
  const wide = await enter({});
  for (const path of ['/executions', '/permissions', `/permissions/${long}`]) {
    await visit(wide.page, path);
    await wide.page.getByText(long).first().waitFor();
    const hidden = await wide.page.evaluate(() => [...document.querySelectorAll('main, .table-wrap')].map((box) => box.scrollWidth - box.clientWidth).filter((over) => over > 0));
    assert.deepEqual(hidden, [], `a long name hides what is beside it on ${path}`);
  }
  all.push(...wide.wrong);
  console.log('a long name hides nothing');

  // Times are told, not judged: they are this machine's, with whatever else it does.
  const empty = await enter({});
  for (const path of ['/overview', '/tools', '/integrations', '/executions', '/settings/api']) {
    const { first, useful } = await paints(empty.page, path);
    assert.ok(first > 0 && useful >= first, path);
    console.log(`paint of ${path} without a cache: first ${Math.round(first)} ms, useful ${Math.round(useful)} ms`);
  }
  all.push(...empty.wrong);

  // Without a mouse: past the navigation, to a Skill, through a dialog and back to where it was.
  const keys = await enter({});
  await visit(keys.page, '/skills');
  await keys.page.keyboard.press('Tab');
  await keys.page.keyboard.press('Enter');
  await keys.page.keyboard.press('Tab');
  const focused = () => keys.page.evaluate(() => document.activeElement?.textContent ?? '');
  assert.equal(await focused(), 'New Skill');
  await keys.page.keyboard.press('Enter');
  await keys.page.getByRole('dialog').waitFor();
  for (let step = 0; step < 12; step += 1) {
    await keys.page.keyboard.press('Tab');
    const inside = await keys.page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') != null);
    assert.ok(inside, 'the focus stays in the dialog');
  }
  await keys.page.keyboard.press('Escape');
  await keys.page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(), 'New Skill', 'the focus returns');
  all.push(...keys.wrong);
  console.log('the keyboard reaches everything and is never caught');

  assert.deepEqual(all, []);
});
