#!/bin/sh
# Installs the GraphQL server of which the tests make a plugin, as pinned in package-lock.json, into
# $TOOLGATE_TEST_TOOLS/graphql (default: target/test-tools). Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}

PATH=$("$here/../node/setup.sh"):$PATH
mkdir -p "$tools"
node=$(cd "$tools" && pwd)/graphql

if ! { [ -f "$node/.installed" ] && cat "$here/package.json" "$here/package-lock.json" | cmp -s - "$node/.installed"; }; then
    rm -rf "$node"
    mkdir -p "$node"
    cp "$here/package.json" "$here/package-lock.json" "$node/"
    npm ci --prefix "$node" --no-audit --no-fund --loglevel=error
    cat "$here/package.json" "$here/package-lock.json" > "$node/.installed"
fi
