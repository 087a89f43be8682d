#!/bin/sh
# Builds the four components that the host embeds, so this runs before the host is built: the two
# interpreters that `toolgate plugin build` bakes tables into, the reader of documents, and the engine
# of scripts. The reader's parser of PDF asks WASI for randomness.
set -eu
cd "$(dirname "$0")/../.."
cargo build --locked -p toolgate-openapi-interpreter -p toolgate-mcp-interpreter --profile plugin --target wasm32-unknown-unknown
cargo build --locked -p toolgate-knowledge-reader --profile plugin --target wasm32-wasip2
# Alone: built with the others it would give them features of its dependencies. Its random numbers come from its input,
# so what asks the system for some has none, and the component no import.
cfg='--cfg=getrandom_backend="unsupported"'
if [ -n "${CARGO_ENCODED_RUSTFLAGS:-}" ]; then
    CARGO_ENCODED_RUSTFLAGS="$CARGO_ENCODED_RUSTFLAGS$(printf '\037')$cfg" \
        cargo build --locked -p toolgate-script-engine --profile plugin --target wasm32-unknown-unknown
else
    RUSTFLAGS="${RUSTFLAGS:-} $cfg" \
        cargo build --locked -p toolgate-script-engine --profile plugin --target wasm32-unknown-unknown
fi
mkdir -p host/guests/dist
target="${CARGO_TARGET_DIR:-target}"
# A copy only where the bytes differ: the host is compiled anew whenever these files change.
take() {
    cmp -s "$target/$1" "host/guests/dist/$2" || cp "$target/$1" "host/guests/dist/$2"
}
take wasm32-unknown-unknown/plugin/toolgate_openapi_interpreter.wasm openapi.wasm
take wasm32-unknown-unknown/plugin/toolgate_mcp_interpreter.wasm mcp.wasm
take wasm32-wasip2/plugin/toolgate_knowledge_reader.wasm reader.wasm
take wasm32-unknown-unknown/plugin/toolgate_script_engine.wasm script.wasm
