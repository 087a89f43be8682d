#!/bin/sh
# Installs the MCP servers of which the tests make plugins, as pinned in package-lock.json and requirements.txt, into
# $TOOLGATE_TEST_TOOLS/mcp_upstreams and mcp_upstreams_python (default: target/test-tools). Does nothing where they are
# there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}

PATH=$("$here/../node/setup.sh"):$PATH
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)
node=$tools/mcp_upstreams
python=$tools/mcp_upstreams_python

if ! { [ -f "$node/.installed" ] && cat "$here/package.json" "$here/package-lock.json" | cmp -s - "$node/.installed"; }; then
    rm -rf "$node"
    mkdir -p "$node"
    cp "$here/package.json" "$here/package-lock.json" "$node/"
    npm ci --prefix "$node" --no-audit --no-fund --loglevel=error
    cat "$here/package.json" "$here/package-lock.json" > "$node/.installed"
fi
if ! cmp -s "$here/requirements.txt" "$python/.installed"; then
    rm -rf "$python"
    "$here/../python/venv.sh" "$python" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$python/.installed"
fi
