// Signing in with an OpenID Connect provider, as people do and as thieves would. `asked`: issuer.
import assert from 'node:assert/strict';
import { asked, open, owner, setUp, visit, walk } from './browser.mjs';

const CALLBACK = `${asked.base}/internal/oidc/callback`;
const done = (what) => console.log(what);

await walk(async (browser, look) => {
  const all = [];

  /** Somebody else's browser, on the sign-in page of one who wanted to see `page`. */
  const stranger = async (page = '/skills') => {
    const opened = await open(browser);
    look(opened.page);
    await opened.page.goto(`${asked.base}${page}`);
    await opened.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    all.push(opened.wrong);
    return opened;
  };
  const begin = (page) => page.getByRole('link', { name: 'Sign in with the Example company' }).click();
  /** At the provider: who one is, and that the dashboard may know. */
  const name = async (page, login) => {
    await page.waitForURL((url) => url.origin === asked.issuer);
    await page.fill('input[name=login]', login);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.getByText('Continue').waitFor();
  };
  const logIn = async (page, login) => {
    await name(page, login);
    await page.getByText('Continue').click();
  };
  /** The same, but stops where the provider sends the browser back: answers that address. */
  const lastAddress = async (page, login) => {
    await name(page, login);
    const [action, fields] = await page.locator('form').first().evaluate((form) => [form.action, Object.fromEntries(new FormData(form))]);
    let answer = await page.request.post(action, { form: fields, maxRedirects: 0 });
    for (;;) {
      const next = new URL(answer.headers().location, asked.issuer);
      if (next.href.startsWith(CALLBACK)) return next;
      answer = await page.request.get(next.href, { maxRedirects: 0 });
    }
  };
  const status = async (page) => (await page.request.get(`${asked.base}/internal/me`)).status();
  const refused = async (page, problem, words) => {
    await page.waitForURL(`${asked.base}/sign-in?problem=${problem}`);
    await page.getByRole('alert').getByText(words).waitFor();
    assert.equal(await status(page), 401);
    const held = await page.context().cookies(`${asked.base}/internal/me`);
    assert.deepEqual(held.map(({ name }) => name), [], 'nothing is left in the browser');
    await page.context().close();
  };

  const first = await open(browser);
  look(first.page);
  await setUp(first.page);
  await visit(first.page, '/settings/members');
  await first.page.getByRole('cell', { name: 'password', exact: true }).waitFor();

  {
    const { page } = await stranger();
    await begin(page);
    await logIn(page, 'eve@example.com');
    await refused(page, 'oidc_no_member', 'Your address is not a member');
    done('an address that is not a member is refused');
  }
  {
    const { page } = await stranger();
    await begin(page);
    await logIn(page, `unproven ${owner.email}`);
    await refused(page, 'oidc_no_member', 'Your address is not a member');
    done("a member's address that the provider has not seen proven is refused");
  }
  {
    const { page } = await stranger();
    await begin(page);
    await page.waitForURL((url) => url.origin === asked.issuer);
    await page.getByRole('link', { name: /cancel|abort/i }).click();
    await refused(page, 'oidc_denied', 'cancelled or refused at the provider');
    done('who changes their mind at the provider is not signed in');
  }
  {
    const { page } = await stranger();
    await begin(page);
    const end = await lastAddress(page, owner.email);
    end.searchParams.set('state', 'another');
    await page.goto(end.href);
    await refused(page, 'oidc_expired', 'Start again');
    done('another state is refused');
  }
  {
    // A thief signs in and stops before the end; the victim is made to open what comes next, in a
    // browser that has begun nothing, and in one that is on its own way to the provider.
    const thief = await stranger();
    await begin(thief.page);
    const end = await lastAddress(thief.page, owner.email);
    const { page } = await stranger();
    await page.goto(end.href);
    await refused(page, 'oidc_expired', 'Start again');
    const busy = await stranger();
    await begin(busy.page);
    await busy.page.waitForURL((url) => url.origin === asked.issuer);
    await busy.page.goto(end.href);
    await refused(busy.page, 'oidc_expired', 'Start again');
    await thief.context.close();
    done("the end of another browser's way signs nobody in");
  }
  {
    const { page } = await stranger();
    const started = await page.request.get(`${asked.base}/internal/oidc/start?return_to=/`, { maxRedirects: 0 });
    const there = new URL(started.headers().location);
    assert.ok(there.searchParams.get('nonce'));
    there.searchParams.set('nonce', 'another');
    await page.goto(there.href);
    await logIn(page, owner.email);
    await refused(page, 'oidc_failed', 'The provider could not be reached');
    done('an ID token with another nonce is refused');
  }
  {
    const { page, context } = await stranger('/skills?query=triage');
    await begin(page);
    await logIn(page, owner.email);
    await page.getByRole('heading', { name: 'Skills', level: 1 }).waitFor();
    const me = await (await page.request.get(`${asked.base}/internal/me`)).json();
    assert.equal(me.data.email, owner.email);
    assert.equal(me.data.role, 'owner');
    const cookies = await context.cookies(`${asked.base}/internal/me`);
    assert.deepEqual(cookies.map(({ name }) => name).sort(), ['toolgate_refresh', 'toolgate_session']);
    for (const cookie of cookies) assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict', cookie.name);
    done('a member signs in with the provider and ends at the page they wanted');

    await visit(page, '/settings/members');
    await page.getByRole('cell', { name: 'password, provider' }).waitFor();
    await visit(page, '/settings/audit');
    await page.getByRole('table').getByText('members.sign_in').first().waitFor();
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await status(page), 401);
    // The provider still knows them and asks nothing.
    await begin(page);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    assert.equal(await status(page), 200);
    done('signing out ends it here, and the known account comes back');
  }

  const wrong = all.flat().filter((line) => !line.includes(asked.issuer) && !line.includes('status of 401'));
  assert.deepEqual(wrong, []);
});
