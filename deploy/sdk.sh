#!/usr/bin/env bash
# sdk.sh OUT: the packages of the clients and of the plugin SDKs, as their registries take them: wheels and a
# source archive for PyPI, tarballs for npm, crates, and the source of the Go module, which is published by its tag.
# Publishes nothing. Needs what tests/sdk/setup.sh installs.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(realpath "$1")
tools=$(realpath "${TOOLGATE_TEST_TOOLS:-$top/target/test-tools}")/sdk
PATH=$("$top/tests/node/setup.sh"):$PATH
# One time for every file, so that the same source is the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$out"/*

# The plugin SDKs take the contract from the folder of the repository in which they are.
cp -R "$top/sdk" "$top/wit" "$work/"

(cd "$work/sdk/clients/python" && "$tools/python/bin/python" -m hatchling build --directory "$out" >&2)
# Its wheel holds the contract, which is not below its folder: a source archive would lack it.
(cd "$work/sdk/plugins/py" && "$tools/python/bin/python" -m hatchling build --target wheel --directory "$out" >&2)

ln -s "$tools/node/node_modules" "$work/sdk/clients/node/node_modules"
for package in clients/node plugins/js; do
    (cd "$work/sdk/$package" && npm pack --silent --offline --pack-destination "$out" >&2)
done

cargo package --quiet --locked --no-verify --allow-dirty --manifest-path "$top/Cargo.toml" --target-dir "$work/crates" \
    -p toolgate-link -p toolgate-sdk-macros -p toolgate-sdk >&2
cp "$work"/crates/package/*.crate "$out/"

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/Cargo.toml" | head -n 1)
name=toolgate-go-$version
cp -R "$work/sdk/clients/go" "$work/$name"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n > "$out/$name.tar.gz"

(cd "$out" && sha256sum -- * > SHA256SUMS)
