#!/bin/sh
# Installs the gateways that toolgate is measured beside, as pinned in fastmcp.txt and contextforge.txt, into
# $TOOLGATE_TEST_TOOLS/peers (default: target/test-tools). Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/peers

command -v python3 >/dev/null || { echo "Python is missing: install it with 'apt install python3 python3-venv'." >&2; exit 1; }

for peer in fastmcp contextforge; do
    if ! cmp -s "$here/$peer.txt" "$tools/$peer/.installed"; then
        rm -rf "${tools:?}/$peer"
        python3 -m venv "$tools/$peer" || { echo "Install it with 'apt install python3-venv'." >&2; exit 1; }
        "$tools/$peer/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/$peer.txt"
        cp "$here/$peer.txt" "$tools/$peer/.installed"
    fi
done
