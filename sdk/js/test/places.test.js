// Where a build says that a mistake is: each is one edit of the plugin that `toolgate plugin new --lang js` writes.
// `UPDATE=1 node --test` writes what is told into places.txt.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { read } from '../bin/build.js';

const here = dirname(fileURLToPath(import.meta.url));
const table = join(here, 'places.txt');
const sound = `\n${await readFile(join(here, '../../../host/toolgate/src/cli/new/js/plugin.js'), 'utf8')}`;
// tests/authors/setup.sh installs the bundler there.
const tools = resolve(process.env.TOOLGATE_TEST_TOOLS ?? join(here, '../../../target/test-tools'), 'authors/js/plugins/fireflies');

/** A heading, lines that are taken away (`- `), put there (`+ `) and told (`> `). */
const cases = (await readFile(table, 'utf8')).split(/^## /m).slice(1).map((block) => {
  const [name, ...lines] = block.trimEnd().split('\n');
  const marked = (mark) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
  return { name, old: marked('-'), put: marked('+'), told: marked('>') };
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

async function told(text) {
  await writeFile('src/plugin.js', filled(text));
  try {
    await read('src/plugin.js', tools, folder);
    return [];
  } catch (cause) {
    const own = resolve(here, '..');
    return cause.message.split('\n').map((line) => line.replace(/"[./]*[^"]*\/sdk\/js\//, '"toolgate-plugin/').replaceAll(own, 'toolgate-plugin').trimEnd());
  }
}

test('the plugin without a mistake is read', async () => assert.deepEqual(await told(sound), []));

test('every mistake is told with its place', async () => {
  const written = [];
  for (const one of cases) {
    const old = ['', ...one.old, ''].join('\n');
    assert.equal(sound.split(old).length, 2, `${one.name}: ${old}`);
    const lines = await told(sound.replace(old, () => ['', ...one.put, ''].join('\n')));
    assert.ok(lines.some((line) => line.includes('src/plugin.js')), `${one.name}: ${lines.join('\n')}`);
    if (!process.env.UPDATE) assert.deepEqual(lines, one.told, one.name);
    const marked = (mark, all) => all.map((line) => `${mark} ${line}`.trimEnd());
    written.push([`## ${one.name}`, ...marked('-', one.old), ...marked('+', one.put), ...marked('>', lines)].join('\n'));
  }
  if (process.env.UPDATE) await writeFile(table, `${written.join('\n\n')}\n`);
});
