#!/usr/bin/env bash
# stopwatch.sh ARCHIVE: from the released archive to the first executed tool, as docs/start.md says it, against a
# clock. Fails if it takes $SECONDS_MAX (60) or more. A server of this machine stands in for Hacker News, whose tool
# needs no account.
set -euo pipefail
archive=$(realpath "$1")
seconds_max=${SECONDS_MAX:-60}
folder=$(mktemp -d)
trap 'kill "${served:-}" "${stands:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

python3 - > upstream.port 2> upstream.log <<'PYTHON' &
import http.server, json, sys

class Stories(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        stories = self.path.endswith("stories.json")
        body = json.dumps([8863, 8864, 8865] if stories else {"id": 8863, "type": "story", "title": "A story", "by": "ada", "score": 1, "time": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stories)
print(server.server_address[1], flush=True)
server.serve_forever()
PYTHON
stands=$!
until [ -s upstream.port ]; do sleep 0.05; done
upstream=hacker-news.firebaseio.com=http://127.0.0.1:$(cat upstream.port)

begin=$(date +%s.%N)
passed() { echo "$(date +%s.%N) $begin" | awk '{ printf "%.1f", $1 - $2 }'; }
tar xf "$archive"
program=$(echo "$folder"/*/bin/toolgate)
echo "$(passed) s: unpacked"
"$program" serve --dev --json --listen 127.0.0.1:0 --allow-upstream "$upstream" > started.json 2> gateway.log &
served=$!
until grep -q '^}' started.json; do
    kill -0 "$served" || { cat gateway.log >&2; exit 1; }
    sleep 0.05
done
echo "$(passed) s: serves"
field() { python3 -c 'import json, sys; print(json.load(open("started.json"))[sys.argv[1]])' "$1"; }
TOOLGATE_URL=$(field rest) TOOLGATE_API_KEY=$(field key)
TOOLGATE_URL=${TOOLGATE_URL%/v1}
export TOOLGATE_URL TOOLGATE_API_KEY
# A search says which plugins are still loading; a person searches again.
until "$program" search top stories on hacker news | grep -q '^hackernews_list_top_stories '; do
    [ "$(passed | cut -d. -f1)" -lt "$seconds_max" ] || { echo "no tool after $(passed) s" >&2; exit 1; }
    sleep 0.5
done
echo "$(passed) s: found"
"$program" exec hackernews_list_top_stories > result.json
took=$(passed)
echo "$took s: executed"
grep -q 8863 result.json || { cat result.json >&2; exit 1; }
awk -v took="$took" -v most="$seconds_max" 'BEGIN { exit !(took < most) }' || { echo "$took s is not under $seconds_max s" >&2; exit 1; }
