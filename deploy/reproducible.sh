#!/usr/bin/env bash
# reproducible.sh [PACKAGE [PROFILE]]: builds the package (toolgate) with the profile (release) twice, in two folders with
# their own target folders, and compares the hashes of what cargo leaves: the program, or a library. The embedded files
# (`host/dashboard/dist`, `host/guests/dist`) are those of this folder, as they were built.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
package=${1:-toolgate} profile=${2:-release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
export CARGO_TARGET_DIR

hashes() { # hashes FOLDER: of what the build in it has left
    local folder=$1
    mkdir -p "$folder"
    # What git knows, as it is now, and what the program embeds.
    git -C "$top" ls-files -z --cached --others --exclude-standard |
        tar -C "$top" --null --files-from - --ignore-failed-read -cf - 2>/dev/null | tar -C "$folder" -xf -
    for built in host/dashboard/dist host/guests/dist; do
        mkdir -p "$folder/$built"
        cp -r "$top/$built/." "$folder/$built/"
    done
    CARGO_TARGET_DIR=$folder/target
    "$folder/deploy/build.sh" --profile "$profile" -p "$package" >&2
    local left=$CARGO_TARGET_DIR/$profile
    [ "$profile" != dev ] || left=$CARGO_TARGET_DIR/debug
    if [ -x "$left/$package" ]; then
        (cd "$left" && strip --strip-unneeded -o stripped "$package" && sha256sum stripped)
    else
        (cd "$left" && sha256sum "lib${package//-/_}".*lib)
    fi
}

one=$(hashes "$work/one")
two=$(hashes "$work/a longer name/two")
printf 'one: %s\ntwo: %s\n' "$one" "$two"
[ "$one" = "$two" ] || { echo "the two builds differ" >&2; exit 1; }
echo "reproducible: $package, profile $profile"
