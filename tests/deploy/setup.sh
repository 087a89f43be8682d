#!/usr/bin/env bash
# Installs what the tests of deploy/ check and run it with: the schemas of Kubernetes and CycloneDX from PyPI,
# into $TOOLGATE_TEST_TOOLS/deploy, and as Debian packages buildah, podman, Caddy, nginx, HAProxy, systemd,
# promtool and ssh-keygen.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}
PATH=$PATH:/usr/sbin

wanted=()
for program in buildah podman runc caddy nginx haproxy xz; do
    command -v "$program" >/dev/null || case $program in
    nginx) wanted+=(nginx-light) ;;
    xz) wanted+=(xz-utils) ;;
    *) wanted+=("$program") ;;
    esac
done
command -v promtool >/dev/null || wanted+=(prometheus)
command -v systemd-analyze >/dev/null || wanted+=(systemd)
command -v objdump >/dev/null || wanted+=(binutils)
command -v ssh-keygen >/dev/null || wanted+=(openssh-client)
[ ${#wanted[@]} -eq 0 ] || "$here/../debian.sh" "${wanted[@]}"

mkdir -p "$tools"
if ! cmp -s "$here/requirements.txt" "$tools/deploy/.installed"; then
    rm -rf "$tools/deploy"
    "$here/../python/venv.sh" "$tools/deploy" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/deploy/.installed"
fi
