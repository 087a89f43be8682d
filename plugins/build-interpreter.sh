#!/bin/sh
# Builds the interpreter component that `toolgate plugin build` bakes tables into. The host embeds
# the result, so this runs before the host is built.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked -p toolgate-openapi-interpreter --profile plugin --target wasm32-wasip2
mkdir -p plugins/dist-base
target="${CARGO_TARGET_DIR:-target}"
cp "$target/wasm32-wasip2/plugin/toolgate_openapi_interpreter.wasm" plugins/dist-base/openapi.wasm
