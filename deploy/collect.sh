#!/usr/bin/env bash
# collect.sh VERSION OUT FOLDER...: what is published, in OUT, from the folders that release.sh and sdk.sh filled on
# each machine: their files, the installer, and one SHA256SUMS over all of it. A folder's own SHA256SUMS is checked first.
#
# RELEASE_PLACE   address below which a release is at /VERSION/, written into the installer
# RELEASE_KEY     file of the private key (ssh-keygen) that signs SHA256SUMS; without it there is no signature, and the
#                 installer compares hashes alone
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=$1
mkdir -p "$2"
out=$(realpath "$2")
shift 2

[ -z "$(ls -A "$out")" ] || { echo "$out is not empty" >&2; exit 1; }
for folder; do
    [ ! -e "$folder/SHA256SUMS" ] || (cd "$folder" && sha256sum --check --strict --quiet SHA256SUMS)
    for file in "$folder"/*; do
        name=$(basename "$file")
        [ "$name" != SHA256SUMS ] || continue
        [ ! -e "$out/$name" ] || { echo "two files are named $name" >&2; exit 1; }
        cp "$file" "$out/$name"
    done
done

signer=
if [ -n "${RELEASE_KEY:-}" ]; then
    signer=$(ssh-keygen -y -f "$RELEASE_KEY" | cut -d' ' -f1,2)
fi
place=${RELEASE_PLACE:-}
for value in "$version" "$place" "$signer"; do
    case $value in
    *[!0-9A-Za-z\ .:/+=_-]*) echo "'$value' cannot be written into the installer" >&2; exit 1 ;;
    esac
done
sed -e "s|^place=.*|place=\${TOOLGATE_RELEASES:-$place}|" \
    -e "s|^version=.*|version=\${TOOLGATE_VERSION:-$version}|" \
    -e "s|^signer=.*|signer=\${TOOLGATE_SIGNER:-$signer}|" "$here/install.sh" > "$out/install.sh"
chmod 755 "$out/install.sh"

cd "$out"
sha256sum -- * > SHA256SUMS
[ -z "$signer" ] || ssh-keygen -q -Y sign -f "$RELEASE_KEY" -n toolgate-release SHA256SUMS
