#!/usr/bin/env bash
# one.sh DESCRIPTION OUT: builds one description within the bounds and prints one line of tab-separated
# facts: name, outcome (built, refused, broken), milliseconds, peak bytes, plugin bytes, tools, why.
# The bounds are 10 s of processor time, so that a busy machine breaks nobody's build, a minute in all,
# and 512 MiB of data; passing one, or ending by a signal or a panic, is `broken`.
name=$(basename "$1" .json)
at=$2/$name.$$ # of this process alone: two descriptions may bear one name
TIMEFORMAT='%U %S'
{
    time timeout -k 1 60 prlimit --cpu=10 --data=536870912 --core=0 \
        "$TOOLGATE" --json plugin build "$1" -o "$at.wasm" >"$at.out" 2>"$at.err"
    status=$?
} 2>"$at.time"
took=$(awk 'END { printf "%d", 1000 * ($1 + $2) }' "$at.time")
number() { sed -n "s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" "$at.out" | head -n 1; }
# With --json a refusal is told on standard output, a panic on standard error.
why=$(cat "$at.out" "$at.err" | tr '\t\n' '  ' | tail -c 400)
peak=
size=
tools=
case $status in
    0)
        outcome=built
        why=
        peak=$(number peak_memory_bytes)
        size=$(number bytes)
        tools=$(number tools)
        ;;
    1)
        # A refusal names a file or a place and says why.
        outcome=refused
        case $why in '' | *panicked* | *'out of memory'*) outcome=broken ;; esac
        ;;
    124 | 137 | 152) outcome=broken why="passed 10 s of processor time, or a minute" ;;
    *) outcome=broken why="exit $status: $why" ;;
esac
rm -f "$at.wasm" "$at.out" "$at.err" "$at.time"
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$outcome" "$took" "${peak:-0}" "${size:-0}" "${tools:-0}" "$why"
