#!/bin/sh
# Installs the gateways that toolgate is measured beside, as pinned in fastmcp.txt and contextforge.txt, into
# $TOOLGATE_TEST_TOOLS/peers (default: target/test-tools). Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/peers

for peer in fastmcp contextforge; do
    if ! cmp -s "$here/$peer.txt" "$tools/$peer/.installed"; then
        rm -rf "${tools:?}/$peer"
        "$here/../python/venv.sh" "$tools/$peer" --require-hashes -r "$here/$peer.txt"
        cp "$here/$peer.txt" "$tools/$peer/.installed"
    fi
done
