// A plugin that misbehaves in JavaScript, and tells what it reaches.

import { definePlugin, Output, s, tool, ToolError } from 'toolgate-plugin';

const spec = (name, description, run, more = {}) => tool({ name, description, effect: 'read', run, ...more });

const attempt = async (what) => {
  try {
    return String(await what());
  } catch (cause) {
    return `refused: ${cause?.message ?? cause}`;
  }
};

export default definePlugin({
  service: 'probe_js',
  title: 'Probe in JavaScript',
  version: '1.0.0',
  description: 'A plugin that tests look through.',
  hosts: ['probe.example.com'],
  capabilities: ['wasi-http', 'kv', 'blobs'],
  limits: { timeout_ms: 20_000 },
  auth: [{
    slot: 'user', title: 'Key', type: 'bearer', placement: { header: 'authorization', template: 'Bearer {secret}' },
    audience: ['https://probe.example.com'],
  }],
  tools: [
    spec('fetch', 'Sends a request with the platform\'s own client.', async ({ url }, cx) => {
      const response = await cx.fetch(url);
      return { status: response.status, body: await response.text() };
    }, { input: { url: s.string('Address.') } }),
    spec('echo', 'Answers what the call knows.', ({ text, times }, cx) => {
      cx.log('info', 'echoing');
      console.log('printed', { text });
      const seen = cx.kv.get('calls')?.value ?? 0;
      cx.kv.set('calls', seen + 1);
      return { text: text.repeat(times), calls: seen + 1, now: cx.nowMs(), today: new Date().getFullYear(), random: [...cx.randomBytes(4)], differs: Math.random() };
    }, { auth: [], input: { text: s.string('Words.'), times: s.integer('How often.', { min: 1, max: 3, default: 2 }) } }),
    spec('count', 'Counts, tells each number, and stops when its caller has left.', async ({ to }, cx) => {
      const file = cx.blobs.create('text/plain', 'numbers.txt', new Uint8Array());
      for (let number = 1; number <= to; number += 1) {
        if (cx.cancelled()) throw new ToolError('cancelled', `the caller left before ${number}`);
        cx.progress(number, to, `number ${number}`);
        cx.partial({ number });
        file.append(new TextEncoder().encode(`${number};`));
        await new Promise((done) => setTimeout(done, 50));
      }
      return new Output({ counted: to }, { files: [file] });
    }, { auth: [], input: { to: s.integer('The last number.', { min: 1, max: 200 }) } }),
    spec('look', 'Looks for what it must not see.', async () => ({
      process: await attempt(() => typeof process),
      globals: Object.getOwnPropertyNames(globalThis).join(' '),
      eval: await attempt(() => (0, eval)('1 + 1')),
    }), { auth: [] }),
    spec('loop', 'Never ends.', () => { for (;;); }, { auth: [] }),
    spec('hoard', 'Keeps all memory it can get.', () => {
      const all = [];
      for (;;) all.push(new Uint8Array(1 << 20).fill(1));
    }, { auth: [] }),
    spec('wait', 'Waits much longer than a call may.', () => new Promise((done) => setTimeout(done, 3_600_000)), { auth: [] }),
    spec('dive', 'Calls itself without end.', () => { const dive = (n) => dive(n + 1) + 1; return dive(0); }, { auth: [] }),
    spec('fail', 'Fails by mistake.', () => undefined.nothing, { auth: [] }),
  ],
});
