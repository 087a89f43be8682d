#!/bin/sh
# Builds the two components that the host embeds, so this runs before the host is built: the
# interpreter that `toolgate plugin build` bakes tables into, and the reader of documents.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked -p toolgate-openapi-interpreter -p toolgate-knowledge-reader --profile plugin --target wasm32-wasip2
mkdir -p plugins/dist-base
target="${CARGO_TARGET_DIR:-target}"
cp "$target/wasm32-wasip2/plugin/toolgate_openapi_interpreter.wasm" plugins/dist-base/openapi.wasm
cp "$target/wasm32-wasip2/plugin/toolgate_knowledge_reader.wasm" plugins/dist-base/reader.wasm
