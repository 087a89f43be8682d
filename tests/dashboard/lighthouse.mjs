// Lighthouse on the pages of a signed-in owner: accessibility and best practices, at least 95 of 100.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asked, createKey, launchProfile, resolve, setUp } from './browser.mjs';
import { furnish } from './places.mjs';

const { default: lighthouse } = await import(pathToFileURL(resolve('lighthouse')));
const AT_LEAST = 0.95;

/** A port that is free now, for the browser's debugger. */
const port = await new Promise((done) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = server.address();
    server.close(() => done(free));
  });
});

// The auditor opens pages of its own in the same profile, so the profile has to be signed in.
const profile = await mkdtemp(join(tmpdir(), 'toolgate-lighthouse-'));
const context = await launchProfile(profile, [`--remote-debugging-port=${port}`]);
try {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await setUp(page);
  const of = await furnish(await createKey(page, 'agent', true));
  for (const path of ['/sign-in', '/overview', '/tools?query=count', '/integrations', '/skills', '/permissions/charles', '/knowledge?query=hotel', `/sessions/${of.session}`, '/webhooks', '/settings/api']) {
    const result = await lighthouse(`${asked.base}${path}`, {
      port,
      output: 'json',
      logLevel: 'error',
      formFactor: 'desktop',
      screenEmulation: { mobile: false, width: 1280, height: 860, deviceScaleFactor: 1, disabled: false },
      throttlingMethod: 'provided',
      onlyCategories: ['accessibility', 'best-practices'],
      disableStorageReset: true,
    });
    const { categories, audits, finalDisplayedUrl } = result.lhr;
    assert.ok(finalDisplayedUrl.endsWith(path), `${path} led to ${finalDisplayedUrl}`);
    const failed = Object.values(audits).filter(({ score, scoreDisplayMode }) => score === 0 && scoreDisplayMode === 'binary').map(({ id }) => id);
    const scores = Object.values(categories).map(({ title, score }) => `${title} ${Math.round(score * 100)}`);
    console.log(`${path}: ${scores.join(', ')}${failed.length > 0 ? ` (${failed.join(', ')})` : ''}`);
    for (const { title, score } of Object.values(categories)) assert.ok(score >= AT_LEAST, `${path}: ${title} ${score} (${failed.join(', ')})`);
  }
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
}
