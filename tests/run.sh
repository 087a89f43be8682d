#!/usr/bin/env bash
# Installs what the tests start, builds and runs every test of the workspace, and ends with one line:
# N passed, N failed.
set -uo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
log=$target/test.log

# Test programs hold the path of the checkout that they were built in. Where checkouts share a target folder,
# cargo takes those of another one for current, and they would test its files.
if [ "$(cat "$target/checkout" 2>/dev/null)" != "$PWD" ]; then
    [ ! -d "$target/debug" ] || cargo clean --quiet --locked --workspace || exit 1
    mkdir -p "$target"
    pwd > "$target/checkout"
fi

# At the same time: the one waits for the network, the other for the processor.
echo "Installs what the tests start; $target/setup.log says what."
tests/setup.sh >"$target/setup.log" 2>&1 &
setup=$!
cargo build --locked --workspace --bins --tests || { wait "$setup"; exit 1; }
wait "$setup" || { cat "$target/setup.log"; exit 1; }
export TOOLGATE=$(cd "$target" && pwd)/debug/toolgate
"$TOOLGATE" plugin build --all plugins --out plugins/dist || exit 1

# A quarter of the time the tests wait, so that half as many more than processors keep these busy.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) * 3 / 2))}
# Not through a pipe: Node makes one that it inherits non-blocking, and a test binary whose output does not fit
# then dies of it.
: >"$log"
tail -n +1 -f "$log" &
shown=$!
trap 'kill "$shown"' EXIT
cargo test --locked --workspace --no-fail-fast >>"$log" 2>&1
status=$?
sleep 1
kill "$shown"
trap - EXIT

# What failed stands half an hour up in the log, so the beginning of each is said again here.
awk '/^---- .* stdout ----$/ { lines = 40 } /^failures:$/ { lines = 0 } lines-- > 0' "$log"

# A test binary that dies, or whose last words are lost, counts as one failure more.
awk -v status="$status" '/^test result:/ { passed += $4; failed += $6 }
    END { printf "%d passed, %d failed\n", passed, failed || !status ? failed : 1 }' "$log"
exit "$status"
