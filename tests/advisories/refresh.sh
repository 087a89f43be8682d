#!/usr/bin/env bash
# refresh.sh [CLONE]: takes over from a clone of https://github.com/rustsec/advisory-db, made here if none is named, the
# advisories about crates of Cargo.lock. `tests/gates.sh` reads them where the network has no database.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
clone=${1:-}
if [ -z "$clone" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    clone=$work/advisory-db
    git clone --quiet --depth 1 https://github.com/rustsec/advisory-db "$clone"
fi
rm -rf "$here/crates" "$here/crates.txt"
sed -n 's/^name = "\(.*\)"$/\1/p' "$here/../../Cargo.lock" | grep -v '^toolgate' | LC_ALL=C sort -u > "$here/crates.txt"
while read -r crate; do
    git -C "$clone" ls-tree -r --name-only HEAD "crates/$crate" | while read -r file; do
        mkdir -p "$here/$(dirname "$file")"
        git -C "$clone" show "HEAD:$file" > "$here/$file"
    done
done < "$here/crates.txt"
git -C "$clone" log -1 --format='%H %cs' > "$here/snapshot.txt"
echo "$(find "$here/crates" -name '*.md' | wc -l) advisories of $(cut -d' ' -f2 "$here/snapshot.txt")"
