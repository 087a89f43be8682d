#!/usr/bin/env bash
# docs/screenshots/*.png: a gateway with every plugin, set up and filled in a real browser.
# TOOLGATE names the program; what is started here is stopped here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
toolgate=$(realpath "${TOOLGATE:?TOOLGATE must name the program, for example target/release/toolgate}")
PATH=$("$root/tests/node/setup.sh"):$PATH
tools=${TOOLGATE_TEST_TOOLS:-$root/target/test-tools}/dashboard
out=$root/docs/screenshots
folder=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
    rm -rf "$folder"
}
trap stop EXIT

mkdir -p "$folder/plugins"
cp "$root"/plugins/dist/*.wasm "$root/tests/plugins/dist/words.wasm" "$folder/plugins/"
"$toolgate" serve --json --listen 127.0.0.1:0 --data-dir "$folder/data" --plugins-dir "$folder/plugins" \
    >"$folder/first" 2>"$folder/log" &
server=$!
for _ in $(seq 2400); do
    grep -q setup_url "$folder/first" && break
    kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.25
done
setup_url=$(node -p "JSON.parse(require('fs').readFileSync(process.argv[1])).setup_url" "$folder/first")
base=${setup_url%/setup*}
node "$here/screenshots.mjs" "{\"tools\": \"$tools\", \"base\": \"$base\", \"setup_url\": \"$setup_url\", \"plugins\": $(ls "$folder/plugins" | wc -l), \"out\": \"$out\"}"
ls -la "$out" | tail -n +2
