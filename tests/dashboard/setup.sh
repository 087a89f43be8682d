#!/bin/sh
# Installs what walks through the dashboard (browser driver, axe-core, Lighthouse), as pinned in
# package-lock.json, into $TOOLGATE_TEST_TOOLS/dashboard (default: target/test-tools). Does nothing
# where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/dashboard

PATH=$("$here/../node/setup.sh"):$PATH
command -v "${CHROMIUM:-chromium-headless-shell}" >/dev/null || { echo "Chromium is missing: install it with 'apt install chromium-headless-shell'." >&2; exit 1; }

if ! { [ -f "$tools/.installed" ] && cat "$here/package.json" "$here/package-lock.json" | cmp -s - "$tools/.installed"; }; then
    rm -rf "$tools"
    mkdir -p "$tools"
    cp "$here/package.json" "$here/package-lock.json" "$tools/"
    npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund --loglevel=error
    cat "$here/package.json" "$here/package-lock.json" > "$tools/.installed"
fi
