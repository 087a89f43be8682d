// The card of a call, in a frame as a host has it (MCP Apps, 2026-01-26): sandboxed, without any origin, spoken
// to in messages alone. The host here does what the protocol says of hosts, and a person presses the buttons.
import assert from 'node:assert/strict';
import { ask, asked, createKey, open, serves, setUp, walk } from './browser.mjs';

const done = (what) => console.log(what);
const HTML = 'text/html;profile=mcp-app';
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'";

/** A request as a client of 2026-07-28 sends it; `types` are those that it renders. */
async function mcp(key, method, name, params, types = [HTML]) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: types } } },
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  const response = await fetch(`${asked.base}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
  const answer = await response.json();
  assert.ok(answer.result, JSON.stringify(answer));
  return answer.result;
}

const call = (key, tool_name, args, types) =>
  mcp(key, 'tools/call', 'svc_execute_tool', { name: 'svc_execute_tool', arguments: { tool_name, arguments: JSON.stringify(args) } }, types);

/** Puts the document into a frame of the page and hands it the result of a call. */
async function render(page, html, result) {
  // A page without the dashboard's policy, which a frame would inherit.
  await page.goto('about:blank');
  await page.setContent('<!doctype html><title>Host</title><main></main>');
  await page.evaluate(
    ({ html, policy, result }) => {
      const frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts');
      frame.srcdoc = html.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
      window.heard = [];
      window.refuses = [];
      const send = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
      window.addEventListener('message', ({ data, source }) => {
        if (source !== frame.contentWindow) return;
        window.heard.push(data);
        if (data.method === 'ui/initialize') {
          const variables = { '--color-background-primary': '#123456' };
          send({ id: data.id, result: { protocolVersion: '2026-01-26', hostCapabilities: { openLinks: {} }, hostInfo: { name: 'host', version: '1' }, hostContext: { theme: 'dark', styles: { variables } } } });
        } else if (data.method === 'ui/notifications/initialized') {
          send({ method: 'ui/notifications/tool-input', params: { arguments: {} } });
          send({ method: 'ui/notifications/tool-result', params: result });
        } else if (data.id !== undefined && data.method) {
          send(window.refuses.includes(data.method) ? { id: data.id, error: { code: -32000, message: 'denied' } } : { id: data.id, result: {} });
        }
      });
      document.querySelector('main').append(frame);
    },
    { html, policy: POLICY, result },
  );
  return page.frameLocator('iframe');
}

const heard = (page, method, timeout) =>
  page.waitForFunction((method) => window.heard.findLast((message) => message.method === method)?.params, method, { polling: 100, timeout });

/** The last message of a kind that the card has sent. */
const said = async (page, method) => (await heard(page, method)).jsonValue();

/** What the card sends at a click. Chromium may drop one into a frame of another origin that has just moved. */
async function saysAtClick(page, button, method) {
  for (let clicks = 0; clicks < 10; clicks += 1) {
    await button.click();
    const found = await heard(page, method, 2_000).catch(() => undefined);
    if (found) return found.jsonValue();
  }
  throw new Error(`the card sent no ${method}`);
}

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'words_count');
  await serves(key, 'locked_run');

  const listed = await mcp(key, 'tools/list', null, {});
  const execute = listed.tools.find((tool) => tool.name === 'svc_execute_tool');
  const uri = execute._meta.ui.resourceUri;
  assert.deepEqual(execute._meta.ui.visibility, ['model']);
  const plain = await mcp(key, 'tools/list', null, {}, ['text/plain']);
  assert.ok(plain.tools.every((tool) => tool._meta === undefined));
  const [document] = (await mcp(key, 'resources/read', uri, { uri })).contents;
  assert.equal(document.mimeType, HTML);
  done('a client that renders cards is told of the document, and no other');

  const asks = await call(key, 'locked_run', {});
  const link = asks.content[0].text.match(/^Connect Link: (.*)$/m)[1];
  let card = await render(page, document.text, asks);
  await card.getByRole('heading', { name: 'Connect locked' }).waitFor();
  assert.deepEqual(await saysAtClick(page, card.getByRole('button', { name: 'Connect locked' }), 'ui/open-link'), { url: link });
  const message = await saysAtClick(page, card.getByRole('button', { name: 'I have connected it' }), 'ui/message');
  assert.ok(message.role === 'user' && message.content.text.includes('locked_run'), JSON.stringify(message));
  assert.ok((await said(page, 'ui/notifications/size-changed')).height > 40);
  done('a person connects from the card, and says so');

  card = await render(page, document.text, asks);
  await card.getByRole('button', { name: 'Connect locked' }).waitFor();
  await page.evaluate(() => window.refuses.push('ui/open-link'));
  await card.getByRole('button', { name: 'Connect locked' }).click();
  await card.getByText(link).waitFor();
  done('where the host opens no links, the card shows the address');

  await ask(key, 'PATCH', '/v1/permissions/users/ada@example.com/tools/words_count', { permission: 'ask' });
  const waits = await call(key, 'words_count', { text: 'may I' });
  card = await render(page, document.text, waits);
  assert.equal((await saysAtClick(page, card.getByRole('button', { name: 'Look at it and decide' }), 'ui/open-link')).url, waits.content[0].text.match(/^Approval Link: (.*)$/m)[1]);
  await ask(key, 'PATCH', '/v1/permissions/users/ada@example.com/tools/words_count', { permission: 'allow' });
  const ran = await call(key, 'words_count', { text: 'private words of mine' });
  card = await render(page, document.text, ran);
  await card.getByText('words_count').waitFor();
  assert.ok(!JSON.stringify(ran._meta).includes('private words'));
  assert.match((await saysAtClick(page, card.getByRole('button', { name: 'Receipt' }), 'ui/open-link')).url, new RegExp(`^${asked.base}/executions/exe_\\w+$`));
  const without = await call(key, 'words_count', { text: 'a' }, []);
  assert.ok(!JSON.stringify(without).includes('toolgate/card'), JSON.stringify(without));
  done('a call that waits leads to its approval, and one that ran to its receipt');

  // What a provider or a plugin wrote is text; a link that is none of the web is not a link.
  const hostile = { kind: 'connect', tool: '<img src=x onerror=alert(1)>', service: 'x', title: '<script>window.top.hurt = 1</script>', message: '<b>bold</b>', url: 'javascript:alert(1)' };
  card = await render(page, document.text, { content: [], _meta: { 'toolgate/card': hostile } });
  await card.getByText('<b>bold</b>').waitFor();
  assert.equal(await card.getByRole('button').count(), 0);
  assert.equal(await card.locator('main img, main script, main b').count(), 0);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  for (const nothing of [undefined, {}, { 'toolgate/card': null }, { 'toolgate/card': { kind: 'constructor' } }]) {
    card = await render(page, document.text, { content: [{ type: 'text', text: 'plain' }], _meta: nothing });
    await said(page, 'ui/notifications/size-changed');
    assert.equal(await card.locator('main > *').count(), 0, JSON.stringify(nothing));
  }
  done('hostile text stays text, and a result without a card shows nothing');

  assert.deepEqual(wrong, []);
});
