#!/bin/sh
# Installs what plugins in JavaScript and Python are built and tested with, into
# $TOOLGATE_TEST_TOOLS/authors (default: target/test-tools/authors): the packages of plugins/fireflies by its
# lock file, and a virtual environment. Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$root/target/test-tools}/authors
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)
PATH=$("$here/../node/setup.sh"):$PATH
package=$root/plugins/fireflies/package.json
lock=$root/plugins/fireflies/package-lock.json

if ! cat "$package" "$lock" | cmp -s - "$tools/js/.installed" 2>/dev/null; then
    rm -rf "$tools/js"
    mkdir -p "$tools/js/plugins/fireflies" "$tools/js/sdk/plugins/js"
    cp "$package" "$lock" "$tools/js/plugins/fireflies/"
    cp "$root/sdk/plugins/js/package.json" "$tools/js/sdk/plugins/js/"
    mkdir -p "$tools/js/sdk/plugins/js/bin" && : > "$tools/js/sdk/plugins/js/bin/build.js"
    npm ci --prefix "$tools/js/plugins/fireflies" --no-audit --no-fund --loglevel=error
    cat "$package" "$lock" > "$tools/js/.installed"
fi

if ! cmp -s "$here/requirements.txt" "$tools/py/.installed"; then
    rm -rf "$tools/py"
    "$here/../python/venv.sh" "$tools/py" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/py/.installed"
fi
