#!/usr/bin/env bash
# Builds every Rust plugin (plugins/*/Cargo.toml, package toolgate-plugin-<service>) into
# plugins/dist/<service>.wasm, and the plugins that only tests use from tests/plugins into
# tests/plugins/dist.
#
# One cargo invocation for all; a file is put in place by a rename, so that a running gateway never
# sees half of one, and only if its content changed. Honours CARGO and CARGO_TARGET_DIR.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
packages=()
folders=()
for manifest in plugins/*/Cargo.toml tests/plugins/*/Cargo.toml; do
    package=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
    if [[ $package == toolgate-plugin-* ]]; then
        packages+=("$package")
        folders+=("$(dirname "$(dirname "$manifest")")/dist")
    fi
done
if [ ${#packages[@]} -eq 0 ]; then
    echo "plugins/build.sh: no plugin has a Cargo.toml" >&2
    exit 1
fi

"$cargo" build --locked --profile plugin --target wasm32-wasip2 "${packages[@]/#/--package=}"

built=${CARGO_TARGET_DIR:-target}/wasm32-wasip2/plugin
for n in "${!packages[@]}"; do
    package=${packages[$n]}
    folder=${folders[$n]}
    mkdir -p "$folder"
    service=${package#toolgate-plugin-}
    service=${service//-/_}
    from=$built/${package//-/_}.wasm
    to=$folder/$service.wasm
    if ! cmp -s "$from" "$to"; then
        cp "$from" "$to.new"
        mv "$to.new" "$to"
    fi
    printf '%8d bytes  %s\n' "$(wc -c <"$to")" "$to"
done
