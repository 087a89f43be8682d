#!/usr/bin/env bash
# Prints the mirror of Debian that apt is configured with on this machine.
set -euo pipefail
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' 'Label: Debian' | sed -n 1p; }
[ -n "$(mirror)" ] || [ "$(id -u)" -ne 0 ] || apt-get update -qq >&2
mirror=$(mirror)
[ -n "$mirror" ] || { echo "apt has no mirror of Debian: run 'apt-get update' as root first." >&2; exit 1; }
echo "$mirror"
