#!/bin/sh
# Builds the two components that the host embeds, so this runs before the host is built: the
# interpreter that `toolgate plugin build` bakes tables into, and the reader of documents.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked -p toolgate-openapi-interpreter -p toolgate-knowledge-reader --profile plugin --target wasm32-wasip2
mkdir -p plugins/dist-base
target="${CARGO_TARGET_DIR:-target}"
# A copy only where the bytes differ: the host is compiled anew whenever these files change.
take() {
    cmp -s "$target/wasm32-wasip2/plugin/$1" "plugins/dist-base/$2" || cp "$target/wasm32-wasip2/plugin/$1" "plugins/dist-base/$2"
}
take toolgate_openapi_interpreter.wasm openapi.wasm
take toolgate_knowledge_reader.wasm reader.wasm
