#!/bin/sh
# suite.sh FOLDER DOCUMENT: the Go client's own tests, and its quick start in a module of its own.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clients=$here/../../../sdk/clients
clean=$1
document=$2
tools=$TOOLGATE_TEST_TOOLS/sdk
. "$here/env.sh"

"$tools/python/bin/python" "$clients/generate.py" "$document" "$tools" --check go
cd "$clean/repository/sdk/clients/go"
[ -z "$(gofmt -l .)" ] || { echo "not formatted: $(gofmt -l .)" >&2; exit 1; }
! grep -q '^require' go.mod || { echo "the module has to do with the standard library" >&2; exit 1; }
export TOOLGATE_DOCUMENT="$document" TOOLGATE_CATALOG="$clean/catalog.json" TOOLGATE_DIALECTS="$here/../dialects.json"
go test ./...

# The README's first program, word for word; blank lines do not count.
mkdir "$clean/quick_start"
awk '/^```go$/ { on = 1; next } /^```$/ { if (on) exit } on' README.md > "$clean/quick_start/main.go"
[ "$(grep -c . "$clean/quick_start/main.go")" -lt 20 ] || { echo "the quick start has 20 lines or more" >&2; exit 1; }
cd "$clean/quick_start"
go mod init quick_start 2> /dev/null
go get "$module@v$version" 2> /dev/null
said=$(go run .)
echo "quick start: $said"
