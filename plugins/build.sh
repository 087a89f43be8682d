#!/usr/bin/env bash
# Builds every Rust plugin (plugins/*/Cargo.toml, package toolgate-plugin-<service>) into
# plugins/dist/<service>.wasm, and the plugins that only tests use from tests/plugins into
# tests/plugins/dist, unless the argument --shipped leaves these out.
#
# Plugins are built without WASI: what they may do is what they import of toolgate. One that needs it
# says so in its Cargo.toml: `[package.metadata.plugin] target = "wasm32-wasip2"`.
#
# One cargo invocation for all of a target. A file is put in place by a rename, so that a running gateway never
# sees half of one, and only if its content changed. Honours CARGO and CARGO_TARGET_DIR.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
packages=()
folders=()
targets=()
manifests=(plugins/*/Cargo.toml)
[ "${1:-}" = --shipped ] || manifests+=(tests/plugins/*/Cargo.toml)
for manifest in "${manifests[@]}"; do
    packages+=("$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)")
    folders+=("$(dirname "$(dirname "$manifest")")/dist")
    target=$(sed -n '/^\[package.metadata.plugin\]$/,/^$/s/^target = "\(.*\)"$/\1/p' "$manifest")
    targets+=("${target:-wasm32-unknown-unknown}")
done

for target in $(printf '%s\n' "${targets[@]}" | sort -u); do
    chosen=()
    for n in "${!packages[@]}"; do
        [[ ${targets[$n]} != "$target" ]] || chosen+=("--package=${packages[$n]}")
    done
    "$cargo" build --locked --profile plugin --target "$target" "${chosen[@]}"
done

for n in "${!packages[@]}"; do
    package=${packages[$n]}
    folder=${folders[$n]}
    mkdir -p "$folder"
    service=${package#toolgate-plugin-}
    service=${service//-/_}
    from=${CARGO_TARGET_DIR:-target}/${targets[$n]}/plugin/${package//-/_}.wasm
    to=$folder/$service.wasm
    if ! cmp -s "$from" "$to"; then
        cp "$from" "$to.new"
        mv "$to.new" "$to"
    fi
    printf '%8d bytes  %s\n' "$(wc -c <"$to")" "$to"
done
