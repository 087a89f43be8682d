#!/bin/sh
# install.sh FOLDER ARGUMENT...: installs what `uv pip install ARGUMENT...` names into the virtual environment FOLDER.
#
# uv needs a tenth of pip's processor time. It reads no configuration file here: it uses pip's package index and the
# system's certificates.
set -eu

programs=$("$(dirname "$0")/setup.sh")
folder=$1
shift

index=${PIP_INDEX_URL:-$("$programs/pip" config get global.index-url 2>/dev/null || true)}
[ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
export UV_NO_CONFIG=true UV_SYSTEM_CERTS=true UV_PYTHON_DOWNLOADS=never
[ -x "$folder/bin/python" ] || "$programs/uv" venv --quiet --clear --python python3 "$folder"
"$programs/uv" pip install --quiet --python "$folder/bin/python" "$@"
