#!/usr/bin/env bash
# release.sh PROGRAM PLUGINS MODEL OUT: everything that can be handed out of one build of the program, in OUT:
# the archive, the Debian package, the list of components, and SHA256SUMS over them. MODEL is the folder of the
# installed sentence model. $COMPRESSION: 0 to 9, 6 if not set.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
program=$(realpath "$1") plugins=$(realpath "$2") model=$(realpath "$3")
mkdir -p "$4"
out=$(realpath "$4")

version=$("$program" --version | awk '{ print $2 }')
machine=$(dpkg --print-architecture)
# One time for every file, so that the same input is the same archive.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$out"/*

# What every form holds.
stage=$work/stage
mkdir -p "$stage"/{bin,completions,man,model,plugins,systemd}
"$here/finish.sh" "$program" "$stage/bin/toolgate"
components=toolgate-$version-linux-$machine.cdx.json
"$here/sbom.py" > "$work/$components"
install -m 644 "$work/$components" "$stage/toolgate.cdx.json"
install -m 644 "$plugins"/*.wasm "$stage/plugins/"
install -m 644 "$model"/* "$stage/model/"
"$program" completions bash > "$stage/completions/toolgate.bash"
"$program" completions zsh > "$stage/completions/_toolgate"
"$program" completions fish > "$stage/completions/toolgate.fish"
"$program" man > "$stage/man/toolgate.1"
install -m 644 "$here/systemd/toolgate.service" "$stage/systemd/"
install -m 644 "$top/LICENSE" "$top/README.md" "$top/CHANGELOG.md" "$stage/"

# The archive: unpack it anywhere and run bin/toolgate.
name=toolgate-$version-linux-$machine
mv "$stage" "$work/$name"
stage=$work/$name
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    -cf - "$name" | xz -T0 "-${COMPRESSION:-6}" > "$out/$name.tar.xz"

# The Debian package.
deb=$work/deb
install -D -m 755 "$stage/bin/toolgate" "$deb/usr/bin/toolgate"
install -d "$deb"/usr/share/toolgate/{model,plugins} "$deb/DEBIAN"
install -m 644 "$stage"/plugins/*.wasm "$deb/usr/share/toolgate/plugins/"
install -m 644 "$stage"/model/* "$deb/usr/share/toolgate/model/"
install -D -m 644 "$here/systemd/toolgate.service" "$deb/lib/systemd/system/toolgate.service"
install -D -m 644 "$here/debian/toolgate.toml" "$deb/etc/toolgate/toolgate.toml"
install -D -m 644 "$stage/completions/toolgate.bash" "$deb/usr/share/bash-completion/completions/toolgate"
install -D -m 644 "$stage/completions/_toolgate" "$deb/usr/share/zsh/vendor-completions/_toolgate"
install -D -m 644 "$stage/completions/toolgate.fish" "$deb/usr/share/fish/vendor_completions.d/toolgate.fish"
install -d "$deb/usr/share/man/man1" "$deb/usr/share/doc/toolgate"
gzip -9n < "$stage/man/toolgate.1" > "$deb/usr/share/man/man1/toolgate.1.gz"
install -m 644 "$stage/toolgate.cdx.json" "$deb/usr/share/doc/toolgate/"
gzip -9n < "$top/CHANGELOG.md" > "$deb/usr/share/doc/toolgate/changelog.gz"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: toolgate"
    echo
    echo "Files: *"
    echo "Copyright: the toolgate authors"
    echo "License: Apache-2.0"
    echo " On Debian systems the license is in /usr/share/common-licenses/Apache-2.0."
} > "$deb/usr/share/doc/toolgate/copyright"
install -m 755 "$here"/debian/{postinst,prerm,postrm} "$deb/DEBIAN/"
echo /etc/toolgate/toolgate.toml > "$deb/DEBIAN/conffiles"
# The libraries that the program is linked to decide how old a distribution may be.
glibc=$(objdump -T "$stage/bin/toolgate" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
cat > "$deb/DEBIAN/control" <<CONTROL
Package: toolgate
Version: $version
Architecture: $machine
Maintainer: toolgate maintainers <maintainers@toolgate.invalid>
Installed-Size: $(du -sk --exclude=DEBIAN "$deb" | cut -f1)
Depends: libc6 (>= ${glibc#GLIBC_}), libgcc-s1, ca-certificates, passwd
Recommends: systemd
Section: net
Priority: optional
Description: tool gateway for software agents
 An agent finds and runs actions of third-party services through three generic
 operations, over REST and over MCP. Integrations run in a sandbox, and the
 gateway adds the credentials at the boundary.
CONTROL
find "$deb" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz "-z${COMPRESSION:-6}" --build "$deb" "$out/toolgate_${version}_$machine.deb" >&2

# The list of components.
install -m 644 "$work/$components" "$out/$components"

(cd "$out" && sha256sum -- * > SHA256SUMS)
