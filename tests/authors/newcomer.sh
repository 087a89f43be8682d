#!/usr/bin/env bash
# newcomer.sh WAY...: from nothing to a called tool, in a folder outside this repository, by the steps of the documents
# word for word. A way is `rust`, `packaged` (Rust against the crates as `cargo package` makes them), `openapi`, `js` or
# `py`. Prints time and size of each. Fails if Rust takes $SECONDS_MAX (60) s or more from nothing, $WARM_MAX (3) s or more
# after an edit, or makes a file of more than $KILOBYTES_MAX (200) KB.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$(realpath "${TOOLGATE:-$root/target/quick/toolgate}")
seconds_max=${SECONDS_MAX:-60} warm_max=${WARM_MAX:-3} kilobytes_max=${KILOBYTES_MAX:-200}
folder=$(mktemp -d)
trap 'kill "${served:-}" "${stands:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
mkdir "$folder/bin" && ln -s "$program" "$folder/bin/toolgate"
export PATH="$folder/bin:$PATH"
# What a newcomer does not have.
unset CARGO_TARGET_DIR CARGO_INCREMENTAL RUSTFLAGS
cd "$folder"

python3 - > upstream.port 2> upstream.log <<'PYTHON' &
import http.server, json

class Notes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.headers.get("x-api-key") == "planted-key"
        body = json.dumps([{"id": 7, "text": "Buy milk", "user": {"name": "Ada"}}] if known else {"message": "no key"}).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notes)
print(server.server_address[1], flush=True)
server.serve_forever()
PYTHON
stands=$!
until [ -s upstream.port ]; do sleep 0.05; done
upstream=http://127.0.0.1:$(cat upstream.port)

now() { date +%s.%N; }
since() { awk -v a="$(now)" -v b="$1" 'BEGIN { printf "%.1f", a - b }'; }
under() { awk -v n="$1" -v most="$2" 'BEGIN { exit !(n < most) }' || { echo "$3: $1 is not under $2" >&2; exit 1; }; }
kilobytes() { echo $((($(stat -c %s "$1") + 999) / 1000)); }
# The first block of commands in a Markdown file, from a heading on.
steps() {
    python3 - "$1" "${2:-}" "${3:-}" <<'PYTHON'
import re, sys
file, heading, kind = sys.argv[1:]
text = open(file).read()
text = text[text.index(heading):] if heading else text
print(re.search(r"^```%s\n(.*?)^```$" % kind, text, re.M | re.S)[1], end="")
PYTHON
}

# Serves the file and calls `list_notes` as an agent does: it is shown a link, its user enters the key, it calls again.
call() {
    local file=$1 host=$2 service field url link
    service=$(basename "$file" .wasm)
    rm -rf "$folder/gateway" && mkdir -p "$folder/gateway/plugins" && cp "$file" "$folder/gateway/plugins/"
    (cd "$folder/gateway" && exec "$program" serve --dev --json --no-model --allow-large-plugins --listen 127.0.0.1:0 \
        --plugins-dir plugins --allow-upstream "$host=$upstream" > started.json 2> log) &
    served=$!
    until grep -q '^}' "$folder/gateway/started.json" 2>/dev/null; do
        kill -0 "$served" || { cat "$folder/gateway/log" >&2; exit 1; }
        sleep 0.05
    done
    field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$folder/gateway/started.json" "$1"; }
    url=$(field rest) key=$(field key)
    post() { curl -sS -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "$2" "$url$1"; }
    until link=$(post "/tools/${service}_list_notes/execute" '{"arguments": {"folder": "work"}}' | grep -o '"connect_url": *"[^"]*"'); do
        grep -h quarantined "$folder/gateway/log" >&2 && exit 1
        sleep 0.1
    done
    link=${link#*\"http} && link=http${link%\"}
    # The form works for the browser that was shown its page.
    page=$(curl -sS -c "$folder/gateway/cookies" "$link" | grep -o 'name="page" value="[^"]*"')
    page=${page#*value=\"}
    curl -sS -o /dev/null -b "$folder/gateway/cookies" --data-urlencode "page=${page%\"}" \
        --data-urlencode 'f_secret=planted-key' "$link"
    post "/tools/${service}_list_notes/execute" '{"arguments": {"folder": "work"}}' > "$folder/gateway/answer"
    grep -q '"Buy milk"' "$folder/gateway/answer" || { cat "$folder/gateway/answer" >&2; exit 1; }
    kill "$served" && wait "$served" 2>/dev/null || true
}

project() {
    local lang=$1 service=$2
    shift 2
    toolgate plugin new --lang "$lang" "$service" --into . "$@"
    cd "$service"
    steps README.md > ../steps.sh
    bash -euo pipefail -x ../steps.sh
}

for way in "$@"; do
    cd "$folder"
    began=$(now)
    case $way in
        rust)
            project rust notes_rust > rust.log 2>&1 || { cat rust.log >&2; exit 1; }
            file=$folder/notes_rust/target/wasm32-unknown-unknown/release/notes_rust.wasm
            call "$file" api.example.com
            took=$(since "$began") size=$(kilobytes "$file")
            cd "$folder/notes_rust"
            cargo build --quiet
            sed -i 's/newest first/the newest first/' src/lib.rs
            edited=$(now)
            cargo build --quiet
            warm=$(since "$edited")
            edited=$(now)
            cargo build --quiet --release
            echo "rust: $took s from nothing to a called tool, $size KB; after an edit $warm s, its release $(since "$edited") s"
            under "$took" "$seconds_max" 'Rust, seconds from nothing'
            under "$warm" "$warm_max" 'Rust, seconds after an edit'
            under "$size" "$((kilobytes_max + 1))" 'Rust, kilobytes'
            ;;
        packaged)
            (cd "$root" && cargo package --quiet --allow-dirty --no-verify --target-dir "$folder/packages" \
                -p toolgate-link -p toolgate-sdk-macros -p toolgate-sdk)
            mkdir -p crates .cargo
            for crate in packages/package/*.crate; do tar xzf "$crate" -C crates; done
            version=$(basename crates/toolgate-sdk-[0-9]*); version=${version#toolgate-sdk-}
            # As if they were published: the SDK asks for the other two by their version.
            printf '[patch.crates-io]\ntoolgate-link = { path = "%s" }\ntoolgate-sdk-macros = { path = "%s" }\n' \
                "$folder/crates/toolgate-link-$version" "$folder/crates/toolgate-sdk-macros-$version" > .cargo/config.toml
            project rust notes_packaged --sdk "crates/toolgate-sdk-$version" > packaged.log 2>&1 || { cat packaged.log >&2; exit 1; }
            rm "$folder/.cargo/config.toml"
            file=$folder/notes_packaged/target/wasm32-unknown-unknown/release/notes_packaged.wasm
            call "$file" api.example.com
            echo "packaged: $(since "$began") s from cargo package to a called tool, $(kilobytes "$file") KB"
            ;;
        openapi)
            mkdir -p openapi/plugins/dist && cd openapi
            steps "$root/sdk/plugins/README.md" '## From an OpenAPI description' yaml > notes.yaml
            steps "$root/sdk/plugins/README.md" 'Build it, let it be judged' > steps.sh
            bash -euo pipefail -x steps.sh > log 2>&1 || { cat log >&2; exit 1; }
            call "$PWD/plugins/dist/notes.wasm" api.notes.example.com
            echo "openapi: $(since "$began") s from a description to a called tool, $(kilobytes plugins/dist/notes.wasm) KB"
            ;;
        js | py)
            project "$way" "notes_$way" > "$way.log" 2>&1 || { cat "$way.log" >&2; exit 1; }
            call "$folder/notes_$way/notes_$way.wasm" api.example.com
            echo "$way: $(since "$began") s from nothing to a called tool, $(kilobytes "$folder/notes_$way/notes_$way.wasm") KB"
            ;;
        *)
            echo "newcomer.sh: $way is none of rust, packaged, openapi, js, py" >&2
            exit 2
            ;;
    esac
done
