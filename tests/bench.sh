#!/usr/bin/env bash
# Prints what search, a call, a start and a request cost. Measures; nothing passes or fails.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo bench --locked -p toolgate-search --bench search -- --quick
cargo bench --locked -p toolgate-tests --bench cost

# What an interpreter costs: large plugins, where they were built, beside one in Rust.
toolgate=${CARGO_TARGET_DIR:-target}/release/toolgate
if compgen -G 'plugins/dist-large/*.wasm' >/dev/null; then
    "$toolgate" plugin test plugins/dist-large/*.wasm plugins/dist/prometheus.wasm
fi
