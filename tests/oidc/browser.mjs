// A person with a browser: opens a connect link, signs in, agrees. Without JavaScript, since the
// pages promise to work without it. argv: folder of node_modules, link, login. Prints what was read.
import { createRequire } from 'node:module';

const [, , tools, link, login] = process.argv;
const { chromium } = createRequire(`${tools}/`)('playwright-core');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const context = await browser.newContext({ javaScriptEnabled: false });
const page = await context.newPage();
page.setDefaultTimeout(60_000);
const referrers = [];
page.on('request', async (request) => {
  const { referer } = await request.allHeaders().catch(() => ({}));
  if (referer) referrers.push(`${referer} to ${request.url().split('?')[0]}`);
});
try {
  await page.goto(link);
  const offer = await page.innerText('main');
  await page.click('button[type=submit]');
  await page.waitForSelector('input[name=login]');
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  const agree = 'button[type=submit]';
  await page.waitForSelector('text=Continue');
  await page.click(agree);
  await page.waitForSelector('#connected');
  const done = await page.innerText('main');
  console.log(JSON.stringify({ offer, done, url: page.url().split('?')[0], referrers }));
} catch (error) {
  console.error(page.url().split('?')[0], await page.innerText('body').catch(() => ''));
  throw error;
} finally {
  await browser.close();
}
