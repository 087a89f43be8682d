#!/bin/sh
# prepare.sh FOLDER: builds the Python client and installs it into a new virtual environment in FOLDER,
# as a user would, from the built package and nothing but downloaded wheels.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clean=$1
tools=$TOOLGATE_TEST_TOOLS/sdk/python

cp -r "$here/../../../sdk/clients/python" "$clean/source"
"$("$here/../../python/setup.sh")/pip" --python "$tools/bin/python" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -w "$clean" "$clean/source"
rm -r "$clean/source"
python3 -m venv "$clean/venv"
"$clean/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$tools/wheels" "$clean"/toolgate-*.whl

cat > "$clean/drive" <<RUN
#!/bin/sh
exec "$clean/venv/bin/python" "$here/drive.py" "\$@"
RUN
chmod +x "$clean/drive"
