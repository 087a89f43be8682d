#!/usr/bin/env bash
# vendor.sh [REPORT]: holds what the tools of plugins/dist would send against the vendors' descriptions, and looks for
# required arguments whose shape is not told. Fails where something differs that tests/vendor/accepted.yaml does not name.
# Environment: TOOLGATE, the binary (default target/debug/toolgate); TOOLGATE_TEST_TOOLS; VENDOR_REPOSITORIES, a folder with
# snapshots of the vendors' repositories as OWNER+NAME, which are then checked too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
: "${TOOLGATE:=${CARGO_TARGET_DIR:-$root/target}/debug/toolgate}"
: "${TOOLGATE_TEST_TOOLS:=$root/target/test-tools}"
export TOOLGATE TOOLGATE_TEST_TOOLS
"$here/vendor/setup.sh"
python=$TOOLGATE_TEST_TOOLS/vendor/python/bin/python
(cd "$here/vendor" && "$python" -m unittest --quiet test_judge)
"$TOOLGATE" --json plugin catalog "$root/plugins/dist" | "$python" "$here/vendor/bare.py"
options=(--tools "$TOOLGATE_TEST_TOOLS/vendor")
[ -z "${VENDOR_REPOSITORIES:-}" ] || options+=(--repositories "$VENDOR_REPOSITORIES")
[ -z "${1:-}" ] || options+=(--report "$1")
"$python" "$here/vendor/check.py" "${options[@]}" "$root"/plugins/dist/*.wasm
