// A person with a browser: opens a connect link, signs in to JupyterHub, agrees. argv: folder of
// node_modules, link, user name. Prints the page at the end.
import { createRequire } from 'node:module';

const [, , tools, link, username] = process.argv;
const { chromium } = createRequire(`${tools}/`)('playwright-core');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage();
page.setDefaultTimeout(30_000);
try {
  await page.goto(link);
  await page.click('button[type=submit]');
  await page.fill('input[name=username]', username);
  await page.fill('input[name=password]', 'any');
  await page.click('#login_submit');
  await page.waitForURL(/oauth2\/authorize/);
  await page.click('form[method=POST] [type=submit]');
  await page.waitForSelector('#connected');
  console.log(await page.innerText('main'));
} catch (error) {
  console.error(page.url().split('?')[0], await page.innerText('body').catch(() => ''));
  throw error;
} finally {
  await browser.close();
}
