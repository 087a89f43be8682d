// A person with a browser, for every walk through the dashboard. What is wanted comes as one JSON
// argument: {tools, base, setup_url, ...}; a walk that fails says where it was and what the page said.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export const asked = JSON.parse(process.argv[2]);
const from = createRequire(`${asked.tools}/`);
const { chromium } = from('playwright-core');
const axeText = readFileSync(from.resolve('axe-core/axe.min.js'), 'utf8');
export const resolve = (name) => from.resolve(name);

export const owner = { email: 'ada@example.com', name: 'Ada Lovelace', password: 'the mill turns slowly' };
/** No wait is longer, however slow the machine. */
const PATIENCE_MS = 60_000;

const ARGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
];

// With it a walk takes a quarter to a third less processor time than with the full browser.
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';

const launch = () => chromium.launch({ executablePath: EXECUTABLE, args: ARGS });

/** A browser whose profile others may share by its debugging port. */
export const launchProfile = (folder, more) =>
  chromium.launchPersistentContext(folder, { executablePath: EXECUTABLE, args: [...ARGS, ...more] });

/** A page that notes what must never happen: console errors, refusals of the policy, requests elsewhere. */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(`${page.url()}: ${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(asked.base) && !url.startsWith('data:')) wrong.push(`${page.url()} asked ${url}`);
  });
  return { context, page, wrong };
}

/** Runs a walk; closes the browser; a failure names its page. */
export async function walk(steps) {
  const browser = await launch();
  let seen;
  try {
    await steps(browser, (page) => {
      seen = page;
    });
  } catch (error) {
    console.error(error);
    if (seen) {
      console.error('at', seen.url());
      console.error(await seen.innerText('body').catch(() => ''));
      if (process.env.TOOLGATE_SHOT) await seen.screenshot({ path: process.env.TOOLGATE_SHOT }).catch(() => {});
    }
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

/** The first owner, by the link that was printed. */
export async function setUp(page) {
  await page.goto(asked.setup_url);
  await page.getByRole('heading', { name: 'Set up toolgate' }).waitFor();
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Name', { exact: true }).fill(owner.name);
  await page.getByLabel('Password', { exact: true }).fill(owner.password);
  await page.getByLabel('Password again').fill(owner.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

export async function signIn(page) {
  await page.goto(`${asked.base}/sign-in`);
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Password').fill(owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

/** Opens a page of the dashboard and waits until it has its data. */
export async function visit(page, path) {
  await page.goto(`${asked.base}${path}`);
  await settled(page);
}

/** Until the page waits for nothing: what a tab or a dialog shows may come after it was pressed. */
export async function settled(page) {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('div.waiting') == null);
}

/** Until the page hears of changes; what came before is asked for then. */
export const live = (page) => says(page, 'live');
export const says = (page, word) => page.locator('.live').filter({ hasText: new RegExp(`^${word}$`) }).waitFor();

/** A key of a name, made on the page for it; the only time that it is shown. */
export async function createKey(page, name, everyScope = false) {
  await visit(page, '/settings/api');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  if (everyScope) {
    for (const box of await dialog.getByRole('checkbox').all()) await box.check();
  }
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await page.locator('#new-key code').innerText();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  return key.trim();
}

/** Asks the public interface as an agent does. */
export async function ask(key, method, path, body) {
  const response = await fetch(`${asked.base}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, ...(await response.json()) };
}

/** Asks until the answer is as wanted, slowly enough for the limits of a key: what plugins bring is
 * taken up in the background. */
export async function until(key, path, wanted, patience_ms = PATIENCE_MS) {
  const end_ms = Date.now() + patience_ms;
  for (;;) {
    const answer = await ask(key, 'GET', path);
    if (wanted(answer)) return;
    if (Date.now() > end_ms) throw new Error(`GET ${path} still answers ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
export const serves = (key, tool) => until(key, `/v1/tools/${tool}/schema`, (answer) => answer.success);

/** When a browser that has nothing of the page yet shows the first of it, and the largest part, in
 * milliseconds after asking for it, by its own paint timings. */
export async function paints(page, path) {
  const debug = await page.context().newCDPSession(page);
  await debug.send('Network.enable');
  await debug.send('Network.setCacheDisabled', { cacheDisabled: true });
  await visit(page, path);
  const found = await page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [first] = performance.getEntriesByName('first-contentful-paint');
          resolve({ first: first.startTime, useful: list.getEntries().at(-1).startTime });
        }).observe({ type: 'largest-contentful-paint', buffered: true });
      }),
  );
  await debug.detach();
  return found;
}

/** What axe-core calls more than minor on the page as it is. The policy of the page stays: the
 * checker comes in by the debugger. */
export async function violations(page) {
  const debug = await page.context().newCDPSession(page);
  await debug.send('Runtime.evaluate', { expression: axeText });
  const { result, exceptionDetails } = await debug.send('Runtime.evaluate', {
    expression: 'axe.run().then((found) => JSON.stringify({ passes: found.passes.length, violations: found.violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes.map((node) => node.html) })) }))',
    awaitPromise: true,
    returnByValue: true,
  });
  await debug.detach();
  if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
  const { passes, violations: all } = JSON.parse(result.value);
  if (passes < 10) throw new Error(`axe-core looked at next to nothing: ${passes} checks`);
  return all.filter(({ impact }) => impact !== 'minor');
}
