#!/usr/bin/env bash
# Runs `make test` on this work tree under conditions that the author of a test may not have thought of, all at
# once: as a user who is not root, in a path with a space, with another locale and time zone, on one processor,
# and after the set-up without a network. A test that fails here and passes elsewhere depends on one of them.
#
# Needs root, for the user, the namespaces and the Debian packages.
#
# Environment:
#   FOLDER           where the copy is made; by default a folder of /var/tmp that is removed afterwards
#   CONDITIONS_LANG  default de_DE.UTF-8
#   CONDITIONS_TZ    default Asia/Kolkata
#   PROCESSORS       a list as taskset takes it, default 0
set -euo pipefail
cd "$(dirname "$0")/.."
language=${CONDITIONS_LANG:-de_DE.UTF-8}
zone=${CONDITIONS_TZ:-Asia/Kolkata}
processors=${PROCESSORS:-0}
user=nobody
[ "$(id -u)" -eq 0 ] || { echo "The conditions are made by root: run it with sudo." >&2; exit 1; }

# In namespaces of its own, where the Rust toolchain is mounted at a place that every user can read.
inside() { # inside FOLDER set-up|tests
    local folder=$1 what=$2
    mkdir -p "$folder/rustup" "$folder/cargo-bin"
    mount --bind "$(rustup show home)" "$folder/rustup"
    mount --bind "$(dirname "$(command -v rustup)")" "$folder/cargo-bin"
    local settings=(HOME="$folder/home" RUSTUP_HOME="$folder/rustup" CARGO_HOME="$folder/home/.cargo"
        PATH="$folder/cargo-bin:$(without_root "$PATH")" LANG="$language" LC_ALL="$language" TZ="$zone")
    local command=(make setup plugins dashboard fetch)
    if [ "$what" = tests ]; then
        ip link set lo up
        settings+=(CARGO_NET_OFFLINE=true)
        command=(make test)
    fi
    # A user as others are: the home of the environment is that of /etc/passwd too, which some tools read instead.
    sed "s#^\($user:[^:]*:[^:]*:[^:]*:[^:]*\):[^:]*:#\1:$folder/home:#" /etc/passwd >"$folder/passwd"
    mount --bind "$folder/passwd" /etc/passwd
    cd "$folder/tool gate"
    env -u CARGO_TARGET_DIR -u TOOLGATE_TEST_TOOLS -u CARGO_INCREMENTAL "${settings[@]}" \
        setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --no-new-privs \
        taskset --cpu-list "$processors" "${command[@]}"
}

# A search path less the folders that only root may enter.
without_root() {
    tr ':' '\n' <<<"$1" | grep -v "^$HOME" | paste -sd:
}

if [ "${1:-}" = inside ]; then
    inside "$2" "$3"
    exit
fi

for needed in setpriv:util-linux ip:iproute2 locale-gen:locales; do
    command -v "${needed%:*}" >/dev/null || tests/debian.sh "${needed#*:}"
done
locale -a | grep -qi "^${language%.*}" || localedef -i "${language%.*}" -f UTF-8 "$language"
# The user may not install Debian packages.
/usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || tests/debian.sh python3 python3-venv
make setup

folder=${FOLDER:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d /var/tmp/toolgate-conditions.XXXXXX)
    trap 'rm -rf --one-file-system "$folder"' EXIT
fi
mkdir -p "$folder/home" "$folder/tool gate"
git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T - | tar -xf - -C "$folder/tool gate"
chmod 755 "$folder"
chown -R "$user" "$folder/home" "$folder/tool gate"
unshare --mount --propagation private "$0" inside "$folder" set-up
unshare --mount --net --propagation private "$0" inside "$folder" tests
