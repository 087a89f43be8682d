#!/usr/bin/env bash
# build.sh [CARGO-ARGUMENT]...: `cargo build --locked` so that the result says nothing of the folders in which it was
# built, in Rust and in C: the same source is the same program wherever it stands.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
cargo=${CARGO_HOME:-$HOME/.cargo}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# The last one that fits counts, so that a target folder inside of the source has its own name.
maps=("$cargo=/cargo" "$top=/toolgate" "$target=/target")
rust=() c=()
for map in "${maps[@]}"; do
    rust+=("--remap-path-prefix=$map")
    c+=("-ffile-prefix-map=$map")
done
# Paths may have spaces, which only the encoded form of the flags takes.
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "${rust[@]}")
export CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS%$'\x1f'}
# The same for the crate that calls the C compiler.
c_flags=$(printf '%q ' "${c[@]}")
export CC_SHELL_ESCAPED_FLAGS=1 CFLAGS="${CFLAGS:-} $c_flags" CXXFLAGS="${CXXFLAGS:-} $c_flags"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
exec cargo build --locked "$@"
