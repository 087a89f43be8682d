#!/bin/sh
# Installs the reference verifier of Standard Webhooks, as pinned in requirements.txt, into
# $TOOLGATE_TEST_TOOLS/webhooks (default: target/test-tools). Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/webhooks

if ! cmp -s "$here/requirements.txt" "$tools/.installed"; then
    rm -rf "$tools"
    "$here/../python/venv.sh" "$tools" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/.installed"
fi
