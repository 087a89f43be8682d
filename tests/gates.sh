#!/usr/bin/env bash
# What a change has to pass before its tests: format, lints, the references of the documentation, and what
# comes in as a dependency. Runs all of it and ends with the names of what failed. `tests/gates.sh install`
# only installs the programs that it runs, as they are pinned: those that look at dependencies here, into
# $TOOLGATE_TEST_TOOLS/gates, and actionlint in tests/actionlint.
set -uo pipefail
cd "$(dirname "$0")/.."
deny=0.20.2
machete=0.9.2
tools=${TOOLGATE_TEST_TOOLS:-target/test-tools}/gates
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)

# Built without optimization: they run for seconds and would be compiled for minutes.
install() {
    [ "$("$tools/bin/$1" --version 2>/dev/null | awk '{ print $NF }')" = "$2" ] ||
        CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root "$tools" --target-dir "$tools/build" "$1@$2" &&
        rm -rf "$tools/build"
}
install cargo-deny "$deny" && install cargo-machete "$machete" && tests/actionlint/setup.sh || exit 1
[ "${1:-}" != install ] || exit 0

failed=()
gate() { # gate NAME COMMAND...
    local name=$1 began=$SECONDS
    shift
    echo "== $name"
    if "$@"; then echo "   $((SECONDS - began)) s"; else failed+=("$name"); fi
}

# Whatever runs Node or npm takes the pinned one: scripts by tests/node/setup.sh, tests by tests/src/tools.rs.
pinned_node() {
    local wrong
    wrong=$(
        git grep -lE '^([^#]*[[:space:](;&|"])?(node|npm|npx) ' -- Makefile '*.sh' | xargs grep -L 'node/setup.sh'
        # `plugin dev` builds an author's project with the author's own.
        git grep -lE 'Command::new\("(node|npm|npx)"\)' -- '*.rs' ':!host/toolgate/src/cli/plugin_dev/'
    )
    [ -z "$wrong" ] || { echo "These run the machine's own Node, not the pinned one:" $wrong; return 1; }
}
# The database of advisories is a git repository, which not every machine reaches. There, the copy in tests/advisories
# is checked.
advisories() {
    if timeout 120 "$tools/bin/cargo-deny" --log-level error fetch db; then
        "$tools/bin/cargo-deny" --log-level error check --disable-fetch advisories
    else
        echo "The database of advisories was not reached; this is its copy: $(cat tests/advisories/snapshot.txt)"
        tests/advisories/check.py
    fi
}
format() {
    cargo fmt --all --check && cargo fmt --check --manifest-path examples/plugin-rust/Cargo.toml
}
# A workflow that is wrong is found here, and not by the first tag.
workflows() {
    tests/actionlint/lint.sh .github/workflows/*.yml
}
documentation() { cargo doc --locked --workspace --no-deps --document-private-items; }

gate "pinned Node" pinned_node
gate format format
gate "unused dependencies" "$tools/bin/cargo-machete"
gate "bans, licences, sources" "$tools/bin/cargo-deny" --log-level error check bans licenses sources
gate advisories advisories
gate workflows workflows
gate clippy cargo clippy --locked --workspace --all-targets -- -D warnings
gate documentation documentation

[ ${#failed[@]} -eq 0 ] || { printf 'gate failed: %s\n' "${failed[@]}" >&2; exit 1; }
