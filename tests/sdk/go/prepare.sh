#!/bin/sh
# prepare.sh FOLDER: fetches the Go module by its path and version, as a user would, from a repository that
# stands in for the public one and has this tree tagged in it. GOPATH is the folder's own; no proxy is asked.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clean=$1
. "$here/env.sh"

mkdir -p "$clean/repository/sdk/clients"
cp -r "$here/../../../sdk/clients/go" "$clean/repository/sdk/clients/go"
(
    cd "$clean/repository"
    git init -q
    git add -A
    git -c user.name=toolgate -c user.email=toolgate@localhost commit -qm "As it would be published"
    git tag "sdk/clients/go/v$version"
)

mkdir "$clean/app"
cp "$here/drive.go" "$clean/app/main.go"
cd "$clean/app"
go mod init app 2> /dev/null
go get "$module@v$version" 2> "$clean/get.log" || { cat "$clean/get.log" >&2; exit 1; }
go build -o "$clean/drive" .
