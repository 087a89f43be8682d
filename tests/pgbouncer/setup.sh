#!/usr/bin/env bash
# Makes $TOOLGATE_TEST_TOOLS/pgbouncer/pgbouncer (default: target/test-tools) start a PgBouncer of 1.21 or later, which keeps
# prepared statements in transaction mode: the machine's, or where that is older, as on Debian 12, the one of Debian 13 with
# its libraries, unpacked there. The machine's packages stay as they are.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}"
tools=$(cd "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}" && pwd)/pgbouncer
packages=(pgbouncer libc6 libcares2 libevent-2.1-7t64 libssl3t64 libpam0g libsystemd0 libaudit1 libcap-ng0 libcap2
    libgcc-s1 libzstd1 zlib1g)
keys=/usr/share/keyrings/debian-archive-keyring.gpg

cmp -s "$0" "$tools/.installed" && exit 0
own=$(/usr/sbin/pgbouncer --version 2>/dev/null | sed -n 's/^PgBouncer //p' || true)
if [ -n "$own" ] && printf '1.21\n%s\n' "$own" | sort -C -V; then
    rm -rf "$tools"
    mkdir -p "$tools"
    ln -s /usr/sbin/pgbouncer "$tools/pgbouncer"
    cp "$here/setup.sh" "$tools/.installed"
    exit 0
fi
for program in apt-get dpkg-deb; do
    command -v "$program" >/dev/null || { echo "$program is missing: these tests need Debian." >&2; exit 1; }
done
[ -e "$keys" ] || "$here/../debian.sh" debian-archive-keyring
mirror=$("$here/../mirror.sh")

rm -rf "$tools"
mkdir -p "$tools"/apt/{lists,archives}/partial "$tools/root"
echo "deb [signed-by=$keys] $mirror trixie main" >"$tools/apt/sources.list"
: >"$tools/apt/status"
cat >"$tools/apt/apt.conf" <<END
Dir::Etc::SourceList "$tools/apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::State "$tools/apt";
Dir::State::Status "$tools/apt/status";
Dir::Cache "$tools/apt";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
END
export APT_CONFIG=$tools/apt/apt.conf
apt-get update -qq >&2
(cd "$tools/apt/archives" && apt-get download -qq "${packages[@]}" >&2)
for package in "$tools"/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$tools/root"
done
rm -rf "$tools/apt" "$tools/root/etc" "$tools/root/usr/share"
cat >"$tools/pgbouncer" <<'END'
#!/bin/sh
# With its own libraries: the machine's may be older.
root=$(dirname "$0")/root
set -- --library-path "$(echo "$root"/usr/lib/*-linux-gnu)" "$root/usr/sbin/pgbouncer" "$@"
exec "$root"/usr/lib*/ld-linux-*.so.* "$@"
END
chmod 755 "$tools/pgbouncer"
"$tools/pgbouncer" --version >&2
cp "$here/setup.sh" "$tools/.installed"
