#!/usr/bin/env bash
# build-large.sh [OUT [PROJECT...]]: tests and builds the plugins written in JavaScript (plugins/*/package.json)
# and Python (plugins/*/pyproject.toml) into OUT/<service>.wasm (default: plugins/dist-large). They are large
# plugins: a gateway lets them serve with --allow-large-plugins. Installs their toolchains first, see
# tests/authors/setup.sh.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "${1:-$root/plugins/dist-large}" && cd "${1:-$root/plugins/dist-large}" && pwd)
"$root/tests/authors/setup.sh"
PATH=$("$root/tests/node/setup.sh"):$PATH
tools=$(cd "${TOOLGATE_TEST_TOOLS:-$root/target/test-tools}/authors" && pwd)

# A copy, so that nothing of the toolchains lies in the sources.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/sdk/plugins" "$work/plugins"
cp -r "$root/wit" "$work/wit"
cp -r "$root/sdk/plugins/js" "$root/sdk/plugins/py" "$work/sdk/plugins/"
ln -s "$tools/js/plugins/fireflies/node_modules" "$work/node_modules"

projects=("${@:2}")
if [ ${#projects[@]} -eq 0 ]; then
    mapfile -t projects < <(ls "$root"/plugins/*/package.json "$root"/plugins/*/pyproject.toml | xargs -n1 dirname)
fi
for project in "${projects[@]}"; do
    project=$(cd "$root" && cd "$project" && pwd)
    service=$(basename "$project")
    cp -r "$project" "$work/plugins/$service"
    cd "$work/plugins/$service"
    if [ -e package.json ]; then
        rm -rf node_modules
        mkdir node_modules
        ln -s ../../../sdk/plugins/js node_modules/toolgate-plugin
        node --test test/*.test.js >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
        node ../../sdk/plugins/js/bin/build.js src/plugin.js -o "$out/$service.wasm"
    else
        export PYTHONPATH=$work/sdk/plugins/py/src PYTHONDONTWRITEBYTECODE=1
        "$tools/py/bin/python" -m pytest -q -p no:cacheprovider tests >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
        "$tools/py/bin/python" -m toolgate_plugin.build "src/$service.py" -o "$out/$service.wasm"
    fi
done
