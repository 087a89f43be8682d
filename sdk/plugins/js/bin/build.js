#!/usr/bin/env node
// Makes a component of a plugin: `toolgate-plugin-build src/plugin.js -o notes.wasm`.
//
// The plugin is bundled and read once here for its manifest. The component is made for a world with just
// the imports that the manifest's capabilities name, of WASI only what the engine and `fetch` need, and
// carries the manifest in the custom section `toolgate:manifest`.

import { mkdtemp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';

const SECTION = 'toolgate:manifest';
const CAPABILITIES = ['wasi-http', 'kv', 'blobs'];
const here = dirname(fileURLToPath(import.meta.url));

/** Makes the component of the plugin that `source` exports as its default. */
export async function build(source, tools = dirname(resolve(source))) {
  const { componentize } = await installed('@bytecodealliance/componentize-js', tools);
  const folder = await mkdtemp(join(tmpdir(), 'toolgate-js-'));
  try {
    const plugin = await read(source, tools, folder);
    const manifest = JSON.stringify(plugin.manifest);
    const { capabilities } = plugin.manifest;

    const wit = await contract();
    const [, version] = /^package toolgate:plugin@(.+);$/m.exec(wit);
    const imports = ['call', ...['kv', 'blobs'].filter((name) => capabilities.includes(name))];
    const entry = join(folder, 'entry.js');
    await writeFile(entry, [
      ...imports.map((name) => `import * as ${name} from 'toolgate:plugin/${name}@${version}';`),
      `import plugin from ${JSON.stringify(resolve(source))};`,
      `import { bind } from ${JSON.stringify(join(here, '../src/guest.js'))};`,
      `export const integration = bind(plugin, ${JSON.stringify(manifest)}, { ${imports.join(', ')} });`,
    ].join('\n'));
    const whole = join(folder, 'whole.js');
    await bundle(entry, whole, tools);
    const witPath = join(folder, 'wit');
    await mkdir(witPath);
    await writeFile(join(witPath, 'toolgate.wit'), world(wit, capabilities));
    const { component } = await componentize({
      sourcePath: whole,
      witPath,
      worldName: 'authored',
      disableFeatures: ['stdio', 'fetch-event', ...(capabilities.includes('wasi-http') ? [] : ['http'])],
    });
    return { component: withSection(component, manifest), manifest: plugin.manifest };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The plugin that `source` exports. An error names the author's own line. */
export async function read(source, tools, folder) {
  const file = join(folder, `read-${++reads}.mjs`);
  process.setSourceMapsEnabled(true);
  await bundle(resolve(source), file, tools, 'inline');
  let plugin;
  try {
    ({ default: plugin } = await import(pathToFileURL(file)));
  } catch (cause) {
    throw new Error(`${ownPlace(cause, source)}: ${cause.message}`, { cause });
  }
  if (!plugin?.manifest) throw new Error(`${source}: it does not export a plugin as its default: \`export default definePlugin({...})\``);
  const unknown = plugin.manifest.capabilities.find((name) => !CAPABILITIES.includes(name));
  if (unknown) throw new Error(`${source}: the capability \`${unknown}\` is not one of ${CAPABILITIES.join(', ')}`);
  return plugin;
}

let reads = 0;

async function bundle(input, file, tools, sourcemap = false) {
  const { rolldown } = await installed('rolldown', tools);
  let unresolved;
  const onLog = (level, log, next) => {
    if (log.code === 'UNRESOLVED_IMPORT') unresolved ??= log.message;
    else next(level, log);
  };
  try {
    const bundled = await rolldown({
      input, onLog, external: /^toolgate:/, logLevel: 'warn', platform: 'neutral', resolve: { mainFields: ['module', 'main'] },
    });
    await bundled.write({ file, format: 'esm', sourcemap });
    await bundled.close();
  } catch (cause) {
    throw new Error(stripVTControlCharacters(cause.message).trim(), { cause });
  }
  if (unresolved) {
    const [first] = stripVTControlCharacters(unresolved).split('\n');
    throw new Error(`${first}: install it with \`npm install\`; a plugin has no module of Node.js`);
  }
}

/** The innermost place of an error in the author's own files. */
function ownPlace(cause, source) {
  const own = dirname(resolve(source));
  for (const [, file, line] of String(cause.stack).matchAll(/\(?(?:file:\/\/)?(\/[^\s():]+):(\d+):\d+\)?/g)) {
    if (file.startsWith(`${own}/`) && !file.includes('/node_modules/')) return `${source}:${line}`;
  }
  return source;
}

/** A package of the plugin's own project, independent of the place of this file. */
export async function installed(name, from, file) {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) {
      const { exports, main } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
      let entry = file ?? exports?.['.'] ?? exports ?? main;
      while (typeof entry === 'object') entry = entry.import ?? entry.default;
      return import(pathToFileURL(join(place, entry)));
    }
    if (folder === dirname(folder)) throw new Error(`${name} is not installed: npm install --save-dev ${name}`);
  }
}

/** wit/toolgate.wit of this package, or of the repository that contains it. */
export async function contract() {
  const place = [join(here, '../wit/toolgate.wit'), join(here, '../../../../wit/toolgate.wit')].find(existsSync);
  if (!place) throw new Error('wit/toolgate.wit is missing from the package toolgate-plugin');
  return readFile(place, 'utf8');
}

/** The contract with a world of just these imports. Without the capability, `blobs` has only its type. */
export function world(wit, capabilities) {
  const has = (name) => capabilities.includes(name);
  const bare = has('blobs') ? wit : wit.replace(/(interface blobs \{)[\s\S]*?\n\}/, '$1\n    resource blob;\n}');
  return `${bare}\nworld authored {\n    import call;\n${has('blobs') ? '    import blobs;\n' : ''}${has('kv') ? '    import kv;\n' : ''}    export integration;\n}\n`;
}

/** A WebAssembly file with one more custom section at its end. */
export function withSection(component, text) {
  const name = Buffer.from(SECTION);
  const body = Buffer.concat([leb(name.length), name, Buffer.from(text)]);
  return Buffer.concat([component, Buffer.from([0]), leb(body.length), body]);
}

function leb(number) {
  const bytes = [];
  do {
    bytes.push((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
    number >>>= 7;
  } while (number > 0);
  return Buffer.from(bytes);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: 'string', short: 'o' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help || positionals.length !== 1) {
    console.log('toolgate-plugin-build SOURCE [-o FILE.wasm]\n\nMakes a component of the plugin that SOURCE exports as its default.');
    process.exit(values.help ? 0 : 2);
  }
  const started = Date.now();
  const { component, manifest } = await build(positionals[0], process.cwd());
  const file = resolve(values.output ?? `${manifest.service}.wasm`);
  await mkdir(dirname(file), { recursive: true });
  // Renamed into place: a gateway that watches the folder never sees half a file.
  await writeFile(`${file}.part`, component);
  await rename(`${file}.part`, file);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${file}: ${manifest.tools.length} tools, ${(component.length / 1e6).toFixed(1)} MB, ${seconds} s`);
}

if (process.argv[1] && readFileSync(process.argv[1]).equals(readFileSync(fileURLToPath(import.meta.url)))) {
  try {
    await main();
  } catch (cause) {
    console.error(`error: ${cause.message}`);
    process.exitCode = 1;
  }
}
