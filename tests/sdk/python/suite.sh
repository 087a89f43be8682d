#!/bin/sh
# suite.sh FOLDER DOCUMENT: the Python client's own tests, in the environment that prepare.sh made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clients=$here/../../../sdk/clients
clean=$1
document=$2
tools=$TOOLGATE_TEST_TOOLS/sdk

"$tools/python/bin/python" "$clients/generate.py" "$document" "$tools" --check python
python3 "$clients/python/make_sync.py" --check
"$tools/python/bin/mypy" --config-file "$clients/python/pyproject.toml" --cache-dir "$clean/mypy" "$clients/python/src"
cd "$clean"
export TOOLGATE_DOCUMENT="$document" TOOLGATE_CATALOG="$clean/catalog.json" TOOLGATE_DIALECTS="$here/../dialects.json"
"$clean/venv/bin/python" -B -m unittest discover -s "$clients/python/tests" -t "$clients/python/tests"

# What the providers' own packages say of every tool that ships.
site=$("$clean/venv/bin/python" -c 'import toolgate, pathlib; print(pathlib.Path(toolgate.__file__).parent.parent)')
PYTHONPATH=$site "$tools/providers/bin/python" -B "$here/providers.py"

# What they say of its types, strictly.
MYPYPATH=$clients/python/src "$tools/python/bin/mypy" --strict --follow-imports silent --cache-dir "$clean/mypy-providers" \
    --python-executable "$tools/providers/bin/python" "$here/typed.py"
PATH=$("$here/../../node/setup.sh"):$PATH
cp "$here/typed.py" "$clean/typed.py"
printf '{ "typeCheckingMode": "strict", "include": ["typed.py"], "extraPaths": ["%s"] }' "$(cd "$clients/python/src" && pwd)" > "$clean/pyrightconfig.json"
"$tools/node/node_modules/.bin/pyright" --pythonpath "$tools/providers/bin/python" -p "$clean"

# The README's first program, word for word.
awk '/^```python$/ { on = 1; next } /^```$/ { if (on) exit } on' "$clients/python/README.md" > "$clean/quick_start.py"
[ "$(wc -l < "$clean/quick_start.py")" -lt 20 ] || { echo "the quick start has 20 lines or more" >&2; exit 1; }
"$tools/python/bin/mypy" --strict --cache-dir "$clean/mypy" --python-executable "$clean/venv/bin/python" "$clean/quick_start.py"
said=$("$clean/venv/bin/python" "$clean/quick_start.py")
echo "quick start: $said"
