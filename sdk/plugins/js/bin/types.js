#!/usr/bin/env node
// Writes types/ from wit/toolgate.wit, the only place where the contract is written: `npm run types`, or
// `node bin/types.js --check` to compare. Run it where @bytecodealliance/jco is installed.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contract, installed } from './build.js';

const types = join(dirname(fileURLToPath(import.meta.url)), '../types');

const { $init, generateTypes } = await installed('@bytecodealliance/jco', process.cwd(), 'obj/js-component-bindgen-component.js');
await $init;
const files = generateTypes('plugin', {
  wit: { tag: 'source', val: await contract() },
  world: 'plugin',
  guest: true,
  tlaCompat: false,
  features: { tag: 'list', val: [] },
});
const check = process.argv.includes('--check');
if (!check) await rm(types, { recursive: true, force: true });
let stale = 0;
for (const [name, bytes] of files) {
  const file = join(types, name);
  const text = new TextDecoder().decode(bytes).replace(/[ \t]+$/gm, '');
  if (check) {
    if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      console.error(`types/${name} is not what wit/toolgate.wit says: npm run types`);
      stale += 1;
    }
  } else {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
