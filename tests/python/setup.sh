#!/bin/sh
# Installs uv, as pinned in requirements.txt (Linux on x86-64 and on 64-bit ARM), beside pip into a virtual environment in
# $TOOLGATE_TEST_TOOLS/python-tools (default: target/test-tools), and prints the folder of the two programs. Does
# nothing more if they are installed already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)/python-tools

if ! cmp -s "$here/requirements.txt" "$tools/.installed"; then
    rm -rf "$tools"
    python3 -m venv "$tools" || { echo "Python or its venv is missing: install them with 'apt install python3 python3-venv'." >&2; exit 1; }
    "$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        -r "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$tools/.installed"
fi
echo "$tools/bin"
