#!/usr/bin/env bash
# Prints what search, a call, a start and a request cost. Measures; nothing passes or fails.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo bench --locked -p toolgate --bench search -- --quick
cargo bench --locked -p toolgate-tests --bench cost
