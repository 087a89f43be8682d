#!/usr/bin/env bash
# corpus.sh sample|all: runs `toolgate plugin build` over published descriptions, each in a process of
# its own with a bound on time and memory, in parallel. Prints what was built, what was refused and
# why, the slowest, the largest. Fails where a build broke a bound or less than 97 % became a plugin.
# Environment: TOOLGATE, the binary (default target/debug/toolgate); TOOLGATE_TEST_TOOLS; JOBS.
set -euo pipefail
which=${1:-sample}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
: "${TOOLGATE:=${CARGO_TARGET_DIR:-$root/target}/debug/toolgate}"
: "${TOOLGATE_TEST_TOOLS:=$root/target/test-tools}"
export TOOLGATE TOOLGATE_TEST_TOOLS
"$here/corpus/setup.sh" "$which"

api=$TOOLGATE_TEST_TOOLS/corpus/api
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
facts=$out/facts.tsv
if [ "$which" = all ]; then
    find "$api" -name '*.json'
else
    grep -v '^#' "$here/corpus/sample.txt" | sed "s#^#$api/#"
fi | LC_ALL=C sort >"$out/names"
all=$(wc -l <"$out/names")
progress() { # a line that a terminal rewrites; a log gets one for every tenth
    if [ -t 2 ]; then
        awk -v all="$all" '{ print } { printf "\r%d of %d", NR, all >"/dev/stderr" } END { print "" >"/dev/stderr" }'
    else
        awk -v all="$all" '{ print } NR % int(all / 10 + 1) == 0 { printf "%d of %d\n", NR, all >"/dev/stderr" }'
    fi
}
xargs -d '\n' -P "${JOBS:-$(nproc)}" -I{} "$here/corpus/one.sh" {} "$out" <"$out/names" | progress >"$facts"

awk -F '\t' '{ n[$2]++; tools += $6; if ($4 > peak) peak = $4 }
    END { printf "%d descriptions: %d built (%.1f %%), %d refused, %d broken; %d tools; peak memory %d MB\n",
        NR, n["built"], 100 * n["built"] / NR, n["refused"], n["broken"], tools, peak / 1000000 }' "$facts"
list() { # list TITLE COLUMN UNIT DIVISOR
    echo "$1"
    sort -t $'\t' -k "$2,$2nr" "$facts" |
        awk -F '\t' -v c="$2" -v u="$3" -v d="$4" 'NR <= 5 { printf "  %-50s %9.1f %s\n", $1, $c / d, u }'
}
list "slowest" 3 s 1000
list "largest plugin" 5 KB 1000
list "most memory" 4 MB 1000000
list "most tools" 6 tools 1
for outcome in refused broken; do
    awk -F '\t' -v o="$outcome" '$2 == o { printf "%s %s: %s\n", o, $1, $7 }' "$facts"
done
awk -F '\t' '{ n[$2]++ } END { exit !(n["broken"] == 0 && n["built"] >= 0.97 * NR) }' "$facts"
