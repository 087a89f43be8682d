# Sourced by prepare.sh and suite.sh: the toolchain that setup.sh installed, and a world of its own in $clean.
module=github.com/toolgate/toolgate/sdk/clients/go
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' "$here/../../../sdk/clients/go/doc.go")

export GOROOT="$TOOLGATE_TEST_TOOLS/sdk/go/go"
export PATH="$GOROOT/bin:$PATH"
# The standard library is compiled once; modules are fetched anew.
export GOCACHE="$TOOLGATE_TEST_TOOLS/sdk/go/cache"
export GOPATH="$clean/gopath" GOFLAGS=-modcacherw GOTOOLCHAIN=local GOENV=off
export GOPROXY=direct GOSUMDB=off CGO_ENABLED=0
# What is asked of the module's public home is answered by the repository beside it.
export GIT_CONFIG_GLOBAL="$clean/gitconfig" GIT_CONFIG_NOSYSTEM=1
cat > "$GIT_CONFIG_GLOBAL" <<CONFIG
[url "file://$clean/repository"]
	insteadOf = https://github.com/toolgate/toolgate
[init]
	defaultBranch = main
CONFIG
