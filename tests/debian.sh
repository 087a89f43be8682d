#!/usr/bin/env bash
# debian.sh PACKAGE...: installs Debian packages, as root or with sudo. Where neither is possible it says
# what to install. No service is started: the tests start private ones and stop them.
set -euo pipefail

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Run as root: apt-get install -y $*" >&2; exit 1; }
    as_root=(sudo)
fi
command -v apt-get >/dev/null || { echo "Install these with your package manager: $*" >&2; exit 1; }

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi
# Standard output is the caller's.
{
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
} >&2
