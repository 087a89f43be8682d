#!/bin/sh
# Installs JupyterHub and its proxy, and takes JupyterHub's own description of its API out of its
# source distribution, into $TOOLGATE_TEST_TOOLS/jupyterhub (default: target/test-tools). Does
# nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/jupyterhub
pins() { cat "$here/requirements.txt" "$here/package.json" "$here/package-lock.json"; }

PATH=$("$here/../node/setup.sh"):$PATH

if ! { [ -f "$tools/.installed" ] && pins | cmp -s - "$tools/.installed"; }; then
    rm -rf "$tools"
    mkdir -p "$tools/source"
    cp "$here/package.json" "$here/package-lock.json" "$tools/"
    npm ci --prefix "$tools" --no-audit --no-fund --loglevel=error
    "$here/../python/venv.sh" "$tools/python" -r "$here/requirements.txt"
    "$("$here/../python/setup.sh")/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        -r "$here/requirements.txt" -d "$tools/source"
    tar -xzf "$tools"/source/jupyterhub-*.tar.gz -C "$tools/source" --strip-components=4 \
        --wildcards '*/docs/source/_static/rest-api.yml'
    pins > "$tools/.installed"
fi
