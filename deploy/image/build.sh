#!/usr/bin/env bash
# build.sh PROGRAM PLUGINS MODEL TAG: builds the image with buildah, which needs no daemon. Options of buildah's
# own, such as --root, are read from $BUILDAH_OPTIONS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1 plugins=$2 model=$3 tag=$4

command -v buildah >/dev/null || { echo "buildah is missing: apt install buildah" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/rootfs.sh" "$program" "$plugins" "$model" "$folder"
version=$("$program" --version | awk '{ print $2 }')
# The format of Docker, since that of OCI has no health check. Files have one time, so that the same input is
# the same image.
# shellcheck disable=SC2086
buildah ${BUILDAH_OPTIONS:-} build --quiet --format docker --isolation chroot --timestamp 0 \
    --label org.opencontainers.image.title=toolgate \
    --label org.opencontainers.image.version="$version" \
    --label org.opencontainers.image.licenses=Apache-2.0 \
    --file "$here/Containerfile" --tag "$tag" "$folder"
