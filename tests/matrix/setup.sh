#!/bin/sh
# Installs the Matrix homeserver (PyPI matrix-synapse) as pinned in requirements.txt into
# $TOOLGATE_TEST_TOOLS/synapse (default: target/test-tools). Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/synapse

if ! cmp -s "$here/requirements.txt" "$tools/.installed"; then
    rm -rf "$tools"
    "$here/../python/venv.sh" "$tools" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/.installed"
fi
