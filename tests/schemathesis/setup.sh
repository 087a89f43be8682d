#!/bin/sh
# Installs schemathesis, as pinned in requirements.txt, into $TOOLGATE_TEST_TOOLS/schemathesis (default:
# target/test-tools). Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/schemathesis

command -v python3 >/dev/null || { echo "Python is missing: install it with 'apt install python3 python3-venv'." >&2; exit 1; }

if ! cmp -s "$here/requirements.txt" "$tools/.installed"; then
    rm -rf "$tools"
    python3 -m venv "$tools" || { echo "Install it with 'apt install python3-venv'." >&2; exit 1; }
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/.installed"
fi
