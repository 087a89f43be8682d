// The place that a build reports for a mistake: each is one edit of the plugin that `toolgate plugin new --lang js`
// writes. `UPDATE=1 node --test` writes the reported lines into places.txt.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { read } from '../bin/build.js';

const here = dirname(fileURLToPath(import.meta.url));
const table = join(here, 'places.txt');
const correct = `\n${await readFile(join(here, '../../../../host/toolgate/src/cli/new/js/plugin.js'), 'utf8')}`;
// tests/authors/setup.sh installs the bundler there.
const tools = resolve(process.env.TOOLGATE_TEST_TOOLS ?? join(here, '../../../../target/test-tools'), 'authors/js/plugins/fireflies');

/** A heading, lines that are removed (`- `), lines that replace them (`+ `) and the lines of the error (`> `). */
const cases = (await readFile(table, 'utf8')).split(/^## /m).slice(1).map((block) => {
  const [name, ...lines] = block.trimEnd().split('\n');
  const marked = (mark) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
  return { name, removed: marked('-'), added: marked('+'), expected: marked('>') };
});

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolgate-places-'));
  await mkdir(join(folder, 'src'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(resolve(here, '..'), join(folder, 'node_modules/toolgate-plugin'));
  process.chdir(folder);
});
after(async () => {
  process.chdir(here);
  await rm(folder, { recursive: true });
});

const filled = (text) => text.slice(1).replaceAll('__SERVICE__', 'notes').replaceAll('__TITLE__', 'Notes');

async function errorLines(text) {
  await writeFile('src/plugin.js', filled(text));
  try {
    await read('src/plugin.js', tools, folder);
    return [];
  } catch (cause) {
    const own = resolve(here, '..');
    return cause.message.split('\n').map((line) => line.replace(/"[./]*[^"]*\/sdk\/plugins\/js\//, '"toolgate-plugin/').replaceAll(own, 'toolgate-plugin').trimEnd());
  }
}

test('the plugin without a mistake is read', async () => assert.deepEqual(await errorLines(correct), []));

test('every mistake is reported with its place', async () => {
  const written = [];
  for (const one of cases) {
    const removed = ['', ...one.removed, ''].join('\n');
    assert.equal(correct.split(removed).length, 2, `${one.name}: ${removed}`);
    const lines = await errorLines(correct.replace(removed, () => ['', ...one.added, ''].join('\n')));
    assert.ok(lines.some((line) => line.includes('src/plugin.js')), `${one.name}: ${lines.join('\n')}`);
    if (!process.env.UPDATE) assert.deepEqual(lines, one.expected, one.name);
    const marked = (mark, all) => all.map((line) => `${mark} ${line}`.trimEnd());
    written.push([`## ${one.name}`, ...marked('-', one.removed), ...marked('+', one.added), ...marked('>', lines)].join('\n'));
  }
  if (process.env.UPDATE) await writeFile(table, `${written.join('\n\n')}\n`);
});
