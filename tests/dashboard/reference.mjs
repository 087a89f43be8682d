// Reads the reference of the REST interface: finds an operation, looks at its samples and sends it with a key.
import assert from 'node:assert/strict';
import { asked, createKey, open, setUp, violations, walk } from './browser.mjs';

const done = (what) => console.log(what);
/** A sample's name in the menu, how it is named when chosen, and what only its language says. */
const SAMPLES = [
  ['Curl', 'Shell Curl', 'curl '],
  ['Requests', 'Python Requests', 'requests.get('],
  ['NewRequest', 'Go NewRequest', 'http.NewRequest('],
  ['cURL', 'PHP cURL', 'curl_init('],
  ['reqwest', 'Rust reqwest', 'reqwest::Client'],
  ['undici', 'Node.js undici', "from 'undici'"],
];
/** Words of a reader, and the page that they look for. */
const PAGES = [
  ['first agent', 'first-agent'],
  ['recipes', 'recipes'],
  ['auth_required', 'troubleshooting'],
  ['redirect mismatch', 'troubleshooting'],
  ['which clients', 'faq'],
  ['composio', 'coming-from'],
  ['nango', 'comparison'],
  ['tunnel chatgpt', 'tunnel'],
];
const HEALTH = "Read the gateway's health";

await walk(async (browser, look) => {
  const { context, page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'reader', true);

  for (const path of ['/docs', '/', '/sign-in', '/docs/guide/', '/connect/none']) {
    const policy = (await fetch(`${asked.base}${path}`)).headers.get('content-security-policy');
    assert.ok(policy?.startsWith("default-src 'none'; "), `${path}: ${policy}`);
    const relaxed = policy.split('; ').filter((directive) => directive.includes('unsafe'));
    assert.deepEqual(relaxed, path === '/docs' ? ["style-src 'self' 'unsafe-inline'"] : [], path);
  }
  done('styles of a script are allowed on this page alone');

  await page.goto(`${asked.base}/docs/guide/`);
  for (const [words, name] of PAGES) {
    await page.getByRole('searchbox', { name: 'Search the documentation' }).fill(words);
    await page.locator(`#found a[href^="${name}.html"]`).first().waitFor();
  }
  done('a page of the guide is found by a word that its reader has');

  await page.getByRole('link', { name: 'API reference', exact: true }).click();
  await page.getByRole('heading', { name: 'toolgate', level: 1 }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/docs');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Enter search query' }).fill('health');
  await page.getByRole('option', { name: HEALTH }).click();
  const operation = page.getByRole('region', { name: HEALTH, exact: true });
  await operation.waitFor();
  done('an operation is found by a word');

  for (const [name, chosen, text] of SAMPLES) {
    await operation.getByRole('button', { name: /^Change code sample language/ }).click();
    await page.getByRole('option', { name, exact: true }).click();
    const sample = await operation.getByRole('group', { name: `Code sample: ${chosen}` }).innerText();
    assert.ok(sample.includes(text) && sample.includes(`${asked.base}/v1/health`), `${chosen}: ${sample}`);
  }
  done('samples are there in six languages, for this gateway');

  await page.getByLabel('Bearer Token').first().fill(key);
  await operation.getByRole('button', { name: /^Test Request/ }).click();
  const sent = page.waitForResponse(`${asked.base}/v1/health`);
  await page.getByRole('dialog').getByRole('button', { name: /^Send get request/ }).click();
  const answer = await sent;
  assert.equal(answer.status(), 200);
  assert.equal(await answer.request().headerValue('authorization'), `Bearer ${key}`);
  await page.getByRole('dialog').getByText('200 OK').waitFor();
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!kept.includes(key), 'the browser keeps the key');
  done('a request is sent with the key that was entered, which is not kept');
  await context.close();

  for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 390]]) {
    const one = await open(browser, { colorScheme, viewport: { width, height: 860 } });
    look(one.page);
    await one.page.goto(`${asked.base}/docs`);
    await one.page.getByRole('heading', { name: 'toolgate', level: 1 }).waitFor();
    assert.deepEqual(await violations(one.page), [], `${width} ${colorScheme}`);
    const wide = await one.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${width}: ${wide} pixels too wide`);
    wrong.push(...one.wrong);
    await one.context.close();
  }
  done('the page is accessible in both themes, and fits a telephone');
  assert.deepEqual(wrong, []);
});
