#!/bin/sh
# Builds the three components that the host embeds, so this runs before the host is built: the two
# interpreters that `toolgate plugin build` bakes tables into, and the reader of documents. The
# reader's parser of PDF asks WASI for randomness.
set -eu
cd "$(dirname "$0")/../.."
cargo build --locked -p toolgate-openapi-interpreter -p toolgate-mcp-interpreter --profile plugin --target wasm32-unknown-unknown
cargo build --locked -p toolgate-knowledge-reader --profile plugin --target wasm32-wasip2
mkdir -p host/guests/dist
target="${CARGO_TARGET_DIR:-target}"
# A copy only where the bytes differ: the host is compiled anew whenever these files change.
take() {
    cmp -s "$target/$1" "host/guests/dist/$2" || cp "$target/$1" "host/guests/dist/$2"
}
take wasm32-unknown-unknown/plugin/toolgate_openapi_interpreter.wasm openapi.wasm
take wasm32-unknown-unknown/plugin/toolgate_mcp_interpreter.wasm mcp.wasm
take wasm32-wasip2/plugin/toolgate_knowledge_reader.wasm reader.wasm
