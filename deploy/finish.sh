#!/usr/bin/env bash
# finish.sh PROGRAM COPY: a copy of the program as it is handed out: without symbols, with the list of its crates in the
# section `.dep-v0`, where scanners of binaries look for it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1 copy=$2
listed=$(mktemp)
trap 'rm -f "$listed"' EXIT
"$here/sbom.py" --embedded > "$listed"
install -m 755 "$program" "$copy"
strip --strip-unneeded "$copy"
objcopy --add-section .dep-v0="$listed" --set-section-flags .dep-v0=noload,readonly "$copy"
