#!/bin/sh
# venv.sh FOLDER ARGUMENT...: makes FOLDER a new virtual environment and installs what `uv pip install ARGUMENT...` names
# into it.
set -eu

here=$(dirname "$0")
rm -rf "$1"
exec "$here/install.sh" "$@"
