// npm mcp-remote gets from nothing but the address to an executed tool: it opens a person's browser, in which the person
// is signed in and says yes. `asked`: remote (its program), home (what it keeps, empty).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { asked, open, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);
const PATIENCE_MS = 60_000;
const within = (promise, what) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error(`waited in vain for ${what}`)), PATIENCE_MS).unref())]);

/** The client's program: speaks MCP on its standard input and output, and says on standard error what to open. */
function remote() {
  const child = spawn(process.execPath, [asked.remote, `${asked.base}/mcp`, '--allow-http', '--transport', 'http-only'], {
    env: { ...process.env, HOME: asked.home, MCP_REMOTE_CONFIG_DIR: asked.home },
  });
  const opened = [];
  const heard = new Map();
  const said = [];
  const news = new EventEmitter();
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    const [url] = line.match(/https?:\/\/\S+\/oauth\/authorize\?\S+/) ?? [];
    if (url) opened.push(url);
    news.emit('line');
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id !== undefined) heard.set(message.id, message);
    news.emit('line');
  });
  const until = async (look, what) => {
    const looked = async () => {
      for (;;) {
        const found = look();
        if (found) return found;
        await once(news, 'line');
      }
    };
    return within(looked(), what).catch((error) => { throw new Error(`${error.message}; it said:\n${said.join('\n')}`); });
  };
  let id = 0;
  return {
    child,
    /** Addresses that it wants opened and nobody has taken. */
    opened,
    heard,
    toOpen: () => until(() => opened.shift(), 'the address to open'),
    say: (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    async ask(method, params) {
      const own = ++id;
      this.say({ id: own, method, params });
      return until(() => heard.get(own), `the answer to ${method}`);
    },
  };
}

/** Where it keeps its tokens. */
function tokensFile() {
  const files = readdirSync(asked.home, { recursive: true }).filter((name) => name.endsWith('tokens.json'));
  assert.equal(files.length, 1, files.join(' '));
  return join(asked.home, files[0]);
}

await walk(async (browser, look) => {
  const { page } = await open(browser);
  look(page);
  await setUp(page);
  const client = remote();
  try {
    const greeted = client.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'walk', version: '1' } });
    await page.goto(await client.toOpen());
    await page.getByText('Nobody has checked this app').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText(/authorization successful/i).waitFor();
    const { result } = await greeted;
    assert.equal(result.serverInfo.name, 'toolgate', JSON.stringify(result));
    client.say({ method: 'notifications/initialized' });
    done('a person lets mcp-remote in');

    const words = { name: 'svc_execute_tool', arguments: { tool_name: 'words_count', arguments: JSON.stringify({ text: 'one two three' }) } };
    const runs = async () => {
      const called = await client.ask('tools/call', words);
      const text = called.result?.content?.map((block) => block.text).join('') ?? JSON.stringify(called);
      assert.match(text, /Tool: words_count[\s\S]*3/, text);
    };
    await runs();
    done('it runs a tool');

    // Its hour is over, as far as it knows: it renews the token and asks nobody.
    const file = tokensFile();
    const before = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...before, expires_at: Date.now() - 1000 }));
    await runs();
    const after = JSON.parse(readFileSync(file, 'utf8'));
    assert.notEqual(after.access_token, before.access_token);
    assert.notEqual(after.refresh_token, before.refresh_token);
    assert.deepEqual(client.opened, []);
    done('it renews its token in silence');

    await visit(page, '/settings/apps');
    await page.getByRole('button', { name: /^Actions for / }).click();
    await page.getByRole('menuitem', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No connected apps').waitFor();
    client.say({ id: 'after', method: 'tools/call', params: words });
    await client.toOpen();
    assert.equal(client.heard.get('after')?.result, undefined);
    done('disconnected, its next call is refused and it has to ask again');
  } finally {
    client.child.kill();
  }
});
