#!/bin/sh
# Installs what the MCP tests speak with: the official clients, the conformance runner and mcp-remote, as pinned
# in package-lock.json, remote/package-lock.json and requirements.txt, into $TOOLGATE_TEST_TOOLS (default: target/test-tools).
# Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}

PATH=$("$here/../node/setup.sh"):$PATH
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)

# installed FOLDER FILE...: whether FOLDER was installed from exactly these files.
installed() {
    folder=$1; shift
    [ -f "$folder/.installed" ] && cat "$@" | cmp -s - "$folder/.installed"
}

# packages FOLDER OF: installs the packages of OF into FOLDER.
packages() {
    installed "$1" "$2/package.json" "$2/package-lock.json" && return
    rm -rf "$1"
    mkdir -p "$1"
    cp "$2/package.json" "$2/package-lock.json" "$1/"
    npm ci --prefix "$1" --no-audit --no-fund --loglevel=error
    cat "$2/package.json" "$2/package-lock.json" > "$1/.installed"
}
packages "$tools/node" "$here"
packages "$tools/mcp_remote" "$here/remote"

if ! installed "$tools/python" "$here/requirements.txt"; then
    rm -rf "$tools/python"
    "$here/../python/venv.sh" "$tools/python" -r "$here/requirements.txt"
    cat "$here/requirements.txt" > "$tools/python/.installed"
fi
