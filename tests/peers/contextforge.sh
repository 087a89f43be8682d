#!/bin/sh
# ContextForge with SQLite in the current folder, without what this benchmark does not ask of it.
# Arguments: the port, the administrator's password. Environment: TOOLGATE_TEST_TOOLS.
set -eu
secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n' | sed 's/../&-/g; s/a/K/g; s/3/Qz/g'; }
export DATABASE_URL="sqlite:///$PWD/contextforge.db" HOST=127.0.0.1 LOG_LEVEL=ERROR
export JWT_SECRET_KEY="$(secret)" AUTH_ENCRYPTION_SECRET="$(secret)"
export BASIC_AUTH_PASSWORD="$2" PLATFORM_ADMIN_PASSWORD="$2" DEFAULT_USER_PASSWORD="$2"
export ADMIN_REQUIRE_PASSWORD_CHANGE_ON_BOOTSTRAP=false PASSWORD_CHANGE_ENFORCEMENT_ENABLED=false
export MCPGATEWAY_UI_ENABLED=false MCPGATEWAY_A2A_ENABLED=false PLUGINS_ENABLED=false OBSERVABILITY_ENABLED=false
export CACHE_TYPE=memory JSON_RESPONSE_ENABLED=true USE_STATEFUL_SESSIONS=false SSRF_PROTECTION_ENABLED=false
exec "${TOOLGATE_TEST_TOOLS:?}/peers/contextforge/bin/mcpgateway" mcpgateway.main:app --host 127.0.0.1 --port "$1"
