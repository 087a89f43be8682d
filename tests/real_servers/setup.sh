#!/bin/sh
# Unpacks Alertmanager, RabbitMQ with Erlang, InfluxDB and the Docker registry from the Debian packages of packages.txt,
# and installs MLflow as pinned in requirements.txt, into $TOOLGATE_TEST_TOOLS/real_servers (default: target/test-tools).
# Nothing is installed on the machine and no service is started. Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}"
tools=$(cd "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}" && pwd)/real_servers
pins() { cat "$here/packages.txt" "$here/requirements.txt" "$here/setup.sh"; }

for program in apt-get dpkg-deb python3; do
    command -v "$program" >/dev/null || { echo "$program is missing: these tests need Debian or Ubuntu with python3-venv." >&2; exit 1; }
done

download() {
    # shellcheck disable=SC2046
    (cd "$tools/debian" && apt-get download -qq $(cat "$here/packages.txt") 2>"$tools/apt.log")
}

if ! { [ -f "$tools/.installed" ] && pins | cmp -s - "$tools/.installed"; }; then
    rm -rf "$tools"
    mkdir -p "$tools/debian" "$tools/root"
    # A fresh machine has no lists of packages, an old one lists of versions that are gone.
    download || { [ "$(id -u)" -ne 0 ] || apt-get update -qq; download; } \
        || { cat "$tools/apt.log" >&2; echo "Run 'apt-get update' as root first." >&2; exit 1; }
    for package in "$tools"/debian/*.deb; do
        dpkg-deb -x "$package" "$tools/root"
    done
    rm -r "$tools/debian"

    # Erlang's start script names the folder in which it is installed.
    sed -i "s#ROOTDIR=/usr/lib/erlang#ROOTDIR='$tools/root/usr/lib/erlang'#" "$tools"/root/usr/lib/erlang/bin/erl
    # Debian's Alertmanager reads its templates from a path in the program. The path that replaces it has the same
    # length and is relative to the working directory, in which the test starts it.
    LC_ALL=C sed -i 's#/usr/share/prometheus/alertmanager#./././././././././././alertmanager#g' \
        "$tools/root/usr/bin/prometheus-alertmanager"
    # The folder's name has the version of the server.
    ln -s "$(cd "$tools"/root/usr/lib/rabbitmq/lib/rabbitmq_server-* && pwd)" "$tools/rabbitmq"

    "$here/../python/venv.sh" "$tools/python" --no-deps -r "$here/requirements.txt"
    pins > "$tools/.installed"
fi
