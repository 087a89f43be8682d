#!/usr/bin/env bash
# The main job on real input: a real Prometheus, a gateway, a plugin dropped in while it serves,
# asked with curl over REST and with the official Python client over MCP.
#
# TOOLGATE names the program; everything that is started here is stopped here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
toolgate=$(realpath "${TOOLGATE:?TOOLGATE must name the program, for example target/release/toolgate}")
python=${TOOLGATE_TEST_TOOLS:-$root/target/test-tools}/python/bin/python
folder=$(mktemp -d)
started=()
stop() {
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
    for process in "${started[@]}"; do wait "$process" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap stop EXIT
say() { printf '\n== %s\n' "$*"; }
# A port that nobody listens on, outside the range that the kernel gives to clients.
free_port() {
    python3 -c '
import random, socket
while True:
    port = random.randrange(20_000, 32_000)
    try:
        socket.create_server(("127.0.0.1", port)).close()
        break
    except OSError:
        pass
print(port)'
}
# until COMMAND...: repeats a command until it succeeds, at most a minute.
until_works() {
    for _ in $(seq 240); do
        if "$@"; then return 0; fi
        sleep 0.25
    done
    echo "gave up waiting for: $*" >&2
    return 1
}

say "Prometheus starts and watches itself"
port=$(free_port)
cat >"$folder/prometheus.yml" <<EOF
global: { scrape_interval: 1s }
scrape_configs: [{ job_name: self, static_configs: [{ targets: ["127.0.0.1:$port"] }] }]
EOF
prometheus --config.file="$folder/prometheus.yml" --storage.tsdb.path="$folder/metrics" \
    --web.listen-address="127.0.0.1:$port" 2>"$folder/prometheus.log" &
started+=($!)

say "toolgate starts with one plugin"
mkdir -p "$folder/plugins"
cp "$root/plugins/dist/prometheus.wasm" "$folder/plugins/"
"$toolgate" serve --dev --json --listen 127.0.0.1:0 --data-dir "$folder/data" --plugins-dir "$folder/plugins" \
    >"$folder/first" 2>"$folder/toolgate.log" &
started+=($!)
until_works test -s "$folder/first"
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$folder/first" "$1"; }
rest=$(field rest) mcp=$(field mcp) key=$(field key)
echo "REST $rest, MCP $mcp"

ask() { curl --silent --show-error --fail-with-body -H "Authorization: Bearer $key" "$@"; }
serves() { ask "$rest/tools/search?query=$1&service=$2" 2>/dev/null | grep -q "\"name\":\"$3\""; }
until_works serves promql prometheus prometheus_query

say "The operator says where Prometheus is, while toolgate serves"
"$toolgate" service configure prometheus --set "api_base=http://127.0.0.1:$port" --data-dir "$folder/data"

say "curl: search, schema, execute"
ask "$rest/tools/search?query=evaluate+a+promql+query&schema_limit=0" | cut -c1-300
echo
ask "$rest/tools/prometheus_query/schema" | cut -c1-300
echo
live() {
    ask -X POST -H 'Content-Type: application/json' -d '{"arguments":{"query":"up"}}' \
        "$rest/tools/prometheus_query/execute" >"$folder/live" && grep -q '"job":"self"' "$folder/live"
}
until_works live
cat "$folder/live"

say "One more plugin file is dropped into the folder"
cp "$root/plugins/dist/hackernews.wasm" "$folder/plugins/.hackernews.part"
mv "$folder/plugins/.hackernews.part" "$folder/plugins/hackernews.wasm"
until_works serves story hackernews hackernews_get_item

say "The official Python client: search, schema, execute, and the new plugin"
"$python" "$here/ask.py" "$mcp" "$key"

say "What left the process"
ask "$rest/executions?tool_name=prometheus_query&limit=1"
printf '\n\ndemo: ok\n'
