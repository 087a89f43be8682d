#!/bin/sh
# docs.sh FOLDER: the reference of each client, made by its ecosystem's own tool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
PATH=$("$here/../../tests/node/setup.sh"):$PATH
tools=$TOOLGATE_TEST_TOOLS/sdk

PYTHONPATH=$here/python/src "$tools/python/bin/pdoc" --output-directory "$out/python" toolgate

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp -r "$here/node/." "$work/"
ln -s "$tools/node/node_modules" "$work/node_modules"
(cd "$work" && "$tools/node/node_modules/.bin/typedoc" --logLevel Error --out "$out/node" src/index.ts)
GOROOT=$tools/go/go GOTOOLCHAIN=local "$tools/go/go/bin/go" -C "$here/go" doc -all > "$out/go.txt"
echo "$out/python/index.html and $out/node/index.html and $out/go.txt"
