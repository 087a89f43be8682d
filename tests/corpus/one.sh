#!/bin/sh
# one.sh DESCRIPTION OUT: builds one description within the bounds and prints one line of tab-separated
# facts: name, outcome (built, refused, broken), milliseconds, peak bytes, plugin bytes, tools, why.
# The bounds are 10 s and 512 MiB of data; passing one, or ending by a signal or a panic, is `broken`.
name=$(basename "$1" .json)
started=$(date +%s%N)
timeout -k 1 10 prlimit --data=536870912 --core=0 \
    "$TOOLGATE" --json plugin build "$1" -o "$2/$name.wasm" >"$2/$name.out" 2>"$2/$name.err"
status=$?
took=$((($(date +%s%N) - started) / 1000000))
number() { sed -n "s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" "$2/$name.out" | head -n 1; }
why=$(tr '\t\n' '  ' <"$2/$name.err" | tail -c 400)
peak=
size=
tools=
case $status in
    0)
        outcome=built
        why=
        peak=$(number peak_memory_bytes "$2")
        size=$(number bytes "$2")
        tools=$(number tools "$2")
        ;;
    1)
        # A refusal names a file or a place and says why.
        outcome=refused
        case $why in '' | *panicked* | *'out of memory'*) outcome=broken ;; esac
        ;;
    124 | 137) outcome=broken why="passed 10 s" ;;
    *) outcome=broken why="exit $status: $why" ;;
esac
rm -f "$2/$name.wasm" "$2/$name.out" "$2/$name.err"
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$outcome" "$took" "${peak:-0}" "${size:-0}" "${tools:-0}" "$why"
