#!/bin/sh
# suite.sh FOLDER DOCUMENT: the Node client's own tests, with the package that prepare.sh installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clients=$here/../../../sdk/clients
clean=$1
document=$2
PATH=$("$here/../../node/setup.sh"):$PATH
tools=$TOOLGATE_TEST_TOOLS/sdk

"$tools/python/bin/python" "$clients/generate.py" "$document" "$tools" --check node
cp "$clients"/node/test/* "$clean/app/"
cd "$clean/app"
export TOOLGATE_DOCUMENT="$document" TOOLGATE_CATALOG="$clean/catalog.json" TOOLGATE_DIALECTS="$here/../dialects.json"
node --test --test-reporter=dot face.test.js dialects.test.js

# What TypeScript and the providers' own packages make of the declarations, and the Vercel AI SDK of the tools.
mkdir -p node_modules/@types node_modules/@anthropic-ai
for package in ai openai @anthropic-ai/sdk @types/node; do
    ln -s "$tools/node/node_modules/$package" "node_modules/$package"
done
"$tools/node/node_modules/.bin/tsc" --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck --target es2022 --module nodenext --types node types.ts
node --test --test-reporter=dot vercel.test.js

# The README's first program, word for word.
awk '/^```js$/ { on = 1; next } /^```$/ { if (on) exit } on' "$clients/node/README.md" > quick_start.js
[ "$(wc -l < quick_start.js)" -lt 20 ] || { echo "the quick start has 20 lines or more" >&2; exit 1; }
said=$(node quick_start.js)
echo "quick start: $said"
