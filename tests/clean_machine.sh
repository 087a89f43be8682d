#!/usr/bin/env bash
# Builds this work tree in a fresh Debian that holds build-essential, git, curl and rustup's Rust, nothing
# else: proof that `make` installs the rest itself. Needs root and debootstrap.
#
# Environment:
#   SUITES  releases of Debian, default "bookworm trixie"
#   STEPS   what runs there, in this order, default "tools dashboard"; any of
#           tools      the checks and installations that each verb begins with
#           dashboard  the web page, with the pinned Node
#           setup      all that the tests need
#           run        `make run` from an empty cargo home, and a search over REST
#           test       `make test`
#           newcomers  with Python added: from `toolgate plugin new` to a called tool in Rust, JavaScript and Python,
#                      and from an OpenAPI description (tests/authors/newcomer.sh)
#   TOOLGATE the program for the step newcomers
#   WITH    further Debian packages, for example "nodejs npm", which must make no difference
#
# Everything is mounted in a mount namespace of its own, which ends with its last process: nothing is
# mounted where the folder is removed. The mirror and the settings of pip, npm and certificates are this
# machine's.
set -euo pipefail
cd "$(dirname "$0")/.."
suites=${SUITES:-bookworm trixie}
steps=${STEPS:-tools dashboard}
with=${WITH:-}
folder=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/clean-machine

for step in $steps; do
    case $step in tools | dashboard | setup | run | test | newcomers) ;; *) echo "STEPS knows no $step" >&2; exit 2 ;; esac
done
[ "$(id -u)" -eq 0 ] || { echo "A Debian root is made by root: run it with sudo." >&2; exit 1; }
command -v debootstrap >/dev/null || tests/debian.sh debootstrap
rustup_home=$(rustup show home)
toolchain=$(rustc --print sysroot)
pinned=$rustup_home/toolchains/$(sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml)-$(rustc -vV | sed -n 's/^host: //p')

mirror=$(tests/mirror.sh)

# What the package clients of this machine are told by variables: proxies, certificates, registries.
mapfile -t settings < <(env | grep -iE '^([a-z]+_proxy|pip_[a-z_]+|npm_config_[a-z_]+|[a-z_]*(ca_bundle|ssl_cert_file|extra_ca_certs|cainfo))=' | grep -v '^PIP_FIND_LINKS=')

# In the namespace: mounts, then the steps, in the Debian of $root.
inside() {
    # A root of its own is a mount, which container tools change, and has terminals.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    ln -sf pts/ptmx "$root/dev/ptmx"
    mount -t tmpfs tmpfs "$root/dev/shm"
    # With the control groups that a container needs.
    mount --rbind /sys "$root/sys"
    mount --bind "$toolchain" "$root$pinned"
    mount -o remount,bind,ro "$root$pinned"
    # What the README asks for.
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        build-essential git curl $with >>"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
    # A root of its own and no chroot, in which the kernel refuses the user namespaces of container tools.
    mkdir -p "$root/before"
    cd "$root"
    pivot_root . before
    exec /usr/bin/env -i "${settings[@]}" HOME=/root LANG=C.UTF-8 \
        PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        RUSTUP_HOME="$rustup_home" bash -euc "$(declare -f steps step_run)
            cd / && umount -l /before && rmdir /before
            cd /toolgate && steps $steps"
}

# In that Debian.
steps() {
    for step in "$@"; do
        echo "== $step"
        case $step in
        run) step_run ;;
        newcomers)
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
            PATH="$(tests/node/setup.sh):$PATH" TOOLGATE=/usr/local/bin/toolgate \
                tests/authors/newcomer.sh rust packaged openapi js py
            ;;
        dashboard)
            make dashboard
            [ -s host/dashboard/dist/index.html ]
            ;;
        *) make "$step" ;;
        esac
    done
}
step_run() {
    # The network is the machine's, where 8080 may be taken.
    export TOOLGATE_LISTEN=127.0.0.1:$((20000 + RANDOM % 12000))
    make run >/tmp/run.log 2>&1 &
    local key
    until key=$(grep -om1 'tg_live_[A-Za-z0-9_-]*' /tmp/run.log); do
        kill -0 $! 2>/dev/null || { cat /tmp/run.log >&2; return 1; }
        sleep 1
    done
    for _ in $(seq 300); do
        curl -sS -o /tmp/found -H "Authorization: Bearer $key" \
            "http://$TOOLGATE_LISTEN/v1/tools/search?query=top+stories+on+hacker+news" || true
        if grep -o '"name":"hackernews_[a-z_]*"' /tmp/found; then kill $!; return 0; fi
        sleep 1
    done
    cat /tmp/run.log /tmp/found >&2
    return 1
}

if [ "${1:-}" = inside ]; then
    root=$2
    inside
fi

for suite in $suites; do
    root=$folder/$suite
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    echo "== Debian $suite"
    began=$SECONDS
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$folder/$suite.log" 2>&1 ||
        { tail -n 20 "$folder/$suite.log" >&2; exit 1; }
    cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    for file in /etc/pip.conf /etc/npmrc /root/.npmrc; do [ ! -e "$file" ] || cp "$file" "$root$file"; done
    # rustup as a user has it, and the one toolchain.
    mkdir -p "$root/root/.cargo/bin" "$root$pinned"
    cp -a "$(dirname "$(command -v rustup)")"/. "$root/root/.cargo/bin/"
    cp "$rustup_home/settings.toml" "$root$rustup_home/"
    [ -z "${TOOLGATE:-}" ] || install "$TOOLGATE" "$root/usr/local/bin/toolgate"
    mkdir "$root/toolgate"
    git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T - | tar -xf - -C "$root/toolgate"
    echo "   made in $((SECONDS - began)) s"
    unshare --mount --propagation private --pid --fork --kill-child tests/clean_machine.sh inside "$root"
    echo "   $suite: $steps done in $((SECONDS - began)) s"
    rm -rf --one-file-system "$root"
done
