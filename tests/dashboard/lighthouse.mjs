// Lighthouse on the pages of a signed-in owner, with 1,000 executions: accessibility and best practices, 100 each. Performance
// depends on what else the machine does, so it is measured only where LIGHTHOUSE_PERFORMANCE=95 asks for it: the best of three.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ask, asked, createKey, launchProfile, resolve, setUp } from './browser.mjs';
import { furnish, places } from './places.mjs';

const { default: lighthouse } = await import(pathToFileURL(resolve('lighthouse')));
const PERFORMANCE = Number(process.env.LIGHTHOUSE_PERFORMANCE ?? 0) / 100;
const AT_LEAST = { accessibility: 1, 'best-practices': 1, ...(PERFORMANCE > 0 && { performance: PERFORMANCE }) };
const TRIES = PERFORMANCE > 0 ? 3 : 1;
const EXECUTIONS = 1_000;

// The auditor opens pages of its own in the same profile, so the profile has to be signed in.
const profile = await mkdtemp(join(tmpdir(), 'toolgate-lighthouse-'));
/** The browser takes a free port for its debugger and says in its profile which. */
async function start() {
  await rm(join(profile, 'DevToolsActivePort'), { force: true });
  const context = await launchProfile(profile, ['--remote-debugging-port=0']);
  return { context, port: Number((await readFile(join(profile, 'DevToolsActivePort'), 'utf8')).split('\n')[0]) };
}

let { context, port } = await start();
try {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  const of = await furnish(key);
  for (let n = 0; n < EXECUTIONS; n += 1) {
    const call = await ask(key, 'POST', '/v1/tools/words_count/execute', { arguments: { text: 'to be' }, user_id: `user-${n % 40}` });
    assert.equal(call.status, 200, JSON.stringify(call));
  }
  const few = ['/sign-in', '/overview', '/executions', '/tools?query=count', '/integrations', '/skills', '/permissions/charles', '/knowledge?query=hotel', `/sessions/${of.session}`, '/webhooks', '/settings/api'];
  const rest = TRIES > 1 ? places(of).filter(([, , press]) => !press).map(([, path]) => path) : [];
  for (const path of new Set([...few, ...rest])) {
    let result;
    for (let tries = 0, failures = 0; tries < TRIES && failures < 3 && !(result?.lhr.categories.performance?.score >= PERFORMANCE);) {
      result = await lighthouse(`${asked.base}${path}`, {
        port,
        output: 'json',
        logLevel: 'error',
        formFactor: 'desktop',
        screenEmulation: { mobile: false, width: 1280, height: 860, deviceScaleFactor: 1, disabled: false },
        throttlingMethod: 'provided',
        onlyCategories: Object.keys(AT_LEAST),
        disableStorageReset: true,
      });
      if (!result.lhr.runtimeError) tries += 1;
      else {
        // A run in which Chromium itself failed has measured nothing, and the next in the same browser fails in the same way.
        failures += 1;
        await context.close();
        ({ context, port } = await start());
      }
    }
    assert.equal(result.lhr.runtimeError, undefined, path);
    const { categories, audits, finalDisplayedUrl } = result.lhr;
    assert.ok(finalDisplayedUrl.endsWith(path), `${path} led to ${finalDisplayedUrl}`);
    const failed = Object.values(audits).filter(({ score, scoreDisplayMode }) => score === 0 && scoreDisplayMode === 'binary').map(({ id }) => id);
    const scores = Object.values(categories).map(({ title, score }) => `${title} ${Math.round(score * 100)}`);
    console.log(`${path}: ${scores.join(', ')}${failed.length > 0 ? ` (${failed.join(', ')})` : ''}`);
    for (const [name, { title, score }] of Object.entries(categories)) assert.ok(score >= AT_LEAST[name], `${path}: ${title} ${score} (${failed.join(', ')})`);
  }
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
}
