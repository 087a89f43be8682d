#!/bin/sh
# Installs what the MCP tests speak with: the official clients and the conformance runner, as pinned
# in package-lock.json and requirements.txt, into $TOOLGATE_TEST_TOOLS (default: target/test-tools).
# Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}

PATH=$("$here/../node/setup.sh"):$PATH
command -v python3 >/dev/null || { echo "Python is missing: install it with 'apt install python3 python3-venv'." >&2; exit 1; }

mkdir -p "$tools"
tools=$(cd "$tools" && pwd)

# installed FOLDER FILE...: whether FOLDER was installed from exactly these files.
installed() {
    folder=$1; shift
    [ -f "$folder/.installed" ] && cat "$@" | cmp -s - "$folder/.installed"
}

if ! installed "$tools/node" "$here/package.json" "$here/package-lock.json"; then
    rm -rf "$tools/node"
    mkdir -p "$tools/node"
    cp "$here/package.json" "$here/package-lock.json" "$tools/node/"
    npm ci --prefix "$tools/node" --no-audit --no-fund --loglevel=error
    cat "$here/package.json" "$here/package-lock.json" > "$tools/node/.installed"
fi

if ! installed "$tools/python" "$here/requirements.txt"; then
    rm -rf "$tools/python"
    python3 -m venv "$tools/python" || { echo "Install it with 'apt install python3-venv'." >&2; exit 1; }
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cat "$here/requirements.txt" > "$tools/python/.installed"
fi
