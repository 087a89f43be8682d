#!/bin/sh
# install.sh: installs a release of toolgate without root.
#
#   install.sh [--version VERSION] [--from URL] [--prefix FOLDER]
#
# It downloads the archive of this machine from URL/VERSION/, compares it with SHA256SUMS there, and installs it to
# FOLDER/share/toolgate with a link at FOLDER/bin/toolgate. FOLDER is ~/.local unless it is named. What is not as the
# list says is not unpacked. If the installer knows the key of the release, the list has to be signed by it.
# The copy of this script that a release contains knows the release's place, version and key (see release.sh).
set -eu

place=${TOOLGATE_RELEASES:-}
version=${TOOLGATE_VERSION:-}
# The public key of who makes releases, in the form of ssh-keygen: `ssh-ed25519 AAAA...`.
signer=${TOOLGATE_SIGNER:-}
prefix=${HOME:-}/.local
# Bytes of the archive and seconds of one download, at most.
archive_bytes_max=500000000
seconds_max=900

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --version | --from | --prefix)
        [ $# -gt 1 ] || fail "$1 needs a value"
        case $1 in
        --version) version=$2 ;;
        --from) place=$2 ;;
        --prefix) prefix=$2 ;;
        esac
        shift 2
        ;;
    *) fail "unknown argument $1: use --version, --from and --prefix" ;;
    esac
done
[ -n "$place" ] || fail "name the place of the releases with --from URL or TOOLGATE_RELEASES"
[ -n "$version" ] || fail "name the version with --version or TOOLGATE_VERSION"
case $version in
*[!0-9A-Za-z.+-]* | .* | -*) fail "$version is not a version" ;;
esac
case $prefix in
/*) ;;
*) fail "--prefix needs a whole path" ;;
esac
for program in curl tar xz sha256sum; do
    command -v "$program" >/dev/null || fail "$program is missing; on Debian: apt install curl tar xz-utils coreutils"
done
[ "$(uname -s)" = Linux ] || fail "releases are for Linux"
case $(uname -m) in
x86_64) machine=amd64 ;;
aarch64) machine=arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac

# A redirect may lead to another host, and not to another protocol: over plain HTTP anyone on the way could answer.
# A server on this machine is asked over the protocol that was named.
case $place in
https://*) protocols='=https' ;;
http://127.0.0.1:* | http://localhost:*) protocols='=http' ;;
*) fail "$place is not an https address" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
download() { # download NAME BYTES_MAX
    curl --fail --silent --show-error --location --max-redirs 5 --proto "$protocols" --proto-redir '=https' \
        --max-filesize "$2" --max-time "$seconds_max" --output "$work/$1" -- "${place%/}/$version/$1" ||
        fail "${place%/}/$version/$1 could not be downloaded"
}

name=toolgate-$version-linux-$machine
download SHA256SUMS 100000
if [ -n "$signer" ]; then
    command -v ssh-keygen >/dev/null || fail "ssh-keygen is missing, which checks the signature; on Debian: apt install openssh-client"
    download SHA256SUMS.sig 100000
    echo "toolgate $signer" > "$work/signers"
    ssh-keygen -Y verify -f "$work/signers" -I toolgate -n toolgate-release -s "$work/SHA256SUMS.sig" \
        < "$work/SHA256SUMS" >/dev/null 2>&1 || fail "SHA256SUMS is not signed by the key of the release: nothing was installed"
fi
# One line, with the name as a whole word; another one of the same name would be a second opinion.
awk -v name="$name.tar.xz" '$2 == name || $2 == "*" name' "$work/SHA256SUMS" > "$work/expected"
[ "$(wc -l < "$work/expected")" -eq 1 ] || fail "SHA256SUMS does not list $name.tar.xz once"
download "$name.tar.xz" "$archive_bytes_max"
(cd "$work" && sha256sum --check --strict --status expected) ||
    fail "$name.tar.xz is not what SHA256SUMS says: nothing was installed"

tar -C "$work" --no-same-owner --no-same-permissions -xJf "$work/$name.tar.xz"
[ -x "$work/$name/bin/toolgate" ] || fail "$name.tar.xz has no program"
# It has to run here before it replaces one that does.
"$work/$name/bin/toolgate" --version >/dev/null || fail "the program does not run on this machine: it needs the glibc of Debian 12 or later"

old=$prefix/share/toolgate
# The data of a gateway that was started in this folder.
[ ! -e "$old/data" ] || fail "$old/data would be lost: move it elsewhere, and name its place with --data-dir; nothing was installed"
mkdir -p "$prefix/bin" "$prefix/share"
# Moved into its place whole; between the two moves there is none for a moment.
new=$prefix/share/.toolgate.$$
rm -rf "$new"
cp -R "$work/$name" "$new"
# A gateway takes plugins from this folder, and puts there what its operator adds: that stays.
for file in "$old"/plugins/*; do
    [ -f "$file" ] || continue
    mkdir -p "$new/plugins"
    [ -e "$new/plugins/${file##*/}" ] || cp -p "$file" "$new/plugins/"
done
if [ -e "$old" ]; then
    rm -rf "$old.old"
    mv "$old" "$old.old"
fi
mv "$new" "$old"
rm -rf "$old.old"
ln -sf ../share/toolgate/bin/toolgate "$prefix/bin/toolgate"

echo "Installed toolgate $version in $prefix/share/toolgate"
case :${PATH:-}: in
*":$prefix/bin:"*) ;;
*) echo "Add it to your path: export PATH=$prefix/bin:\$PATH" ;;
esac
echo "Start it with: toolgate serve --dev"
