#!/usr/bin/env bash
# rootfs.sh PROGRAM PLUGINS MODEL FOLDER: puts the root of the image together in FOLDER/root: the program, the
# libraries that it is linked to, the certificates of this machine's authorities, the plugins, the sentence model,
# and the user.
set -euo pipefail
program=$1 plugins=$2 model=$3 folder=$4
certificates=/etc/ssl/certs/ca-certificates.crt

[ -f "$certificates" ] || { echo "$certificates is missing: apt install ca-certificates" >&2; exit 1; }
ls "$plugins"/*.wasm >/dev/null 2>&1 || { echo "$plugins holds no plugin: make plugins" >&2; exit 1; }

root=$folder/root
rm -rf "$root" "$folder/data"
mkdir -p "$root"/{usr/bin,usr/share/toolgate/{model,plugins},etc/ssl/certs} "$folder/data"
deploy=$(cd "$(dirname "$0")/.." && pwd)
"$deploy/finish.sh" "$program" "$root/usr/bin/toolgate"
mkdir -p "$root/usr/share/doc/toolgate"
"$deploy/sbom.py" > "$root/usr/share/doc/toolgate/toolgate.cdx.json"

# glibc's resolver is in libc itself since 2.34, so nothing is loaded at run time that ldd does not see.
ldd "$program" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    install -D -m 755 "$(readlink -f "$library")" "$root$library"
done
install -m 644 "$certificates" "$root$certificates"
install -m 644 "$plugins"/*.wasm "$root/usr/share/toolgate/plugins/"
install -m 644 "$model"/* "$root/usr/share/toolgate/model/"
printf 'root:x:0:0:root:/:/sbin/nologin\ntoolgate:x:65532:65532:toolgate:/data:/sbin/nologin\n' > "$root/etc/passwd"
printf 'root:x:0:\ntoolgate:x:65532:\n' > "$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' > "$root/etc/nsswitch.conf"
chmod -R go-w "$root"
chmod 700 "$folder/data"
