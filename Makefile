# Everything that is done with this tree; `make` lists it.

PREFIX  ?= $(HOME)/.local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

PROGRAMS := ralph ralph-hub
# ralph acts by the name under which it was called.
LINKS    := ralph-status ralph-monitor
DEST     := bin share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d
# Without cgo there is no dynamic linker at the start, and the programs run on any libc.
BUILD    := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X ralph/cmd/internal/cli.Version=$(VERSION)"
SHIPPED  := go run ./cmd/internal/shipped .cache/shipped $(VERSION)
GATE     := .cache/bin/testgate

GOLANGCI_VERSION := v2.15.0
GOLANGCI         := .cache/bin/golangci-lint-$(GOLANGCI_VERSION)

GORELEASER_VERSION := v2.16.0
GORELEASER         := .cache/bin/goreleaser-$(GORELEASER_VERSION)

GOVULNCHECK_VERSION := v1.8.0
GOVULNCHECK         := .cache/bin/govulncheck-$(GOVULNCHECK_VERSION)

# The race detector needs a C compiler; without one Go's default is CGO_ENABLED=0.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# The version comes from above, and git may refuse to describe a checkout that
# belongs to another user. What differs in any other flag is compiled again, so all targets share these.
export GOFLAGS := $(GOFLAGS) -buildvcs=false -trimpath
export CGO_ENABLED ?= 0
export GOLANGCI_LINT_CACHE ?= $(CURDIR)/.cache/golangci-lint

# These start first: they wait for processes and clocks while the others compile.
SLOW := ./internal/faults ./cmd/internal/tmuxe2e ./runner ./monitor ./cmd/...

# The tests of these work with the built programs, in which the race detector sees nothing.
UNRACED := ./internal/faults ./cmd/internal/tmuxe2e ./internal/release ./runner/sandbox ./internal/testgate

# The packages with generated files.
GENERATED = $(shell grep -rl '^func Test.*Generated' --include='*_test.go' . | xargs -n1 dirname | sort -u)

.DEFAULT_GOAL := help
.PHONY: help build ralph man beside snapshot release-tools packages sandbox-image demo demo-parallel test check raced unraced rules e2e faults bench lint vuln cross generate install uninstall clean tools-for-tests testgate

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/ralph, bin/ralph-hub, and links ralph-status and ralph-monitor
	$(BUILD) -o bin/ $(PROGRAMS:%=./cmd/%)
	@for link in $(LINKS); do ln -sf ralph bin/$$link; done

ralph:
	$(BUILD) -o bin/ ./cmd/ralph

beside: man
	rm -rf .cache/shipped/man-gz .cache/shipped/links && mkdir -p .cache/shipped/man-gz .cache/shipped/links
	for page in .cache/shipped/man/*.1; do gzip -9nc $$page >.cache/shipped/man-gz/$${page##*/}.gz; done
	for link in $(LINKS); do ln -s ralph .cache/shipped/links/$$link; done
	sed 's|^url=.*|url=$${RALPH_URL:-$(RELEASES)}|; s|^key=.*|key=$${RALPH_KEY:-$(KEY)}|' install.sh >.cache/shipped/install.sh

# goreleaser takes commit and date only from a repository that has a remote: this one is it.
snapshot: $(GORELEASER) ## a release of HEAD into dist, without publishing it; its container image needs docker
	rm -rf .cache/tree dist
	git -c safe.directory='*' clone -q . .cache/tree
	cd .cache/tree && $(CURDIR)/$(GORELEASER) release --snapshot --clean --skip=docker,sign
	mv .cache/tree/dist dist
	rm -rf .cache/tree

release-tools: $(GORELEASER)

packages: snapshot ## try install.sh, deb, rpm and apk of the release in containers (needs podman, runc, debootstrap, rpm)
	scripts/try-packages dist

$(GORELEASER):
	GOBIN=$(CURDIR)/.cache/bin go install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
	mv .cache/bin/goreleaser $@

man: ## man pages and completions into .cache/shipped, as packages install them
	$(SHIPPED)

demo: ralph ## a whole run in a fresh temporary project, with a scripted agent
	bin/ralph demo

demo-parallel: build ## four scripted agents side by side: a conflict, a bad merge, a worker that is killed
	scripts/demo-parallel bin/ralph $(if $(shell command -v tmux),--monitor)

# Many tests wait for processes and clocks.
WIDE = -parallel=$$((2 * $$(getconf _NPROCESSORS_ONLN))) -p=$$((2 * $$(getconf _NPROCESSORS_ONLN)))
LONG = -parallel=$$((2 * $$(getconf _NPROCESSORS_ONLN))) -timeout 45m

# Without vet, debug symbols and inlining, which make check has, a cold start takes half the time. Most of it is the
# compiler, and a sixth of that is its garbage collection.
test: export GOFLAGS += '-gcflags=all=-l -dwarf=false'
test: export GOGC = 400
test: testgate tools-for-tests ## the tests in under three minutes; what it leaves out is named, and in `make check`
	$(GATE) -short -shuffle=on -vet=off -ldflags=-w $(WIDE) $(SLOW) ./...

check: testgate tools-for-tests ## vet and all tests, with the race detector; RALPH_REQUIRE=all: a skipped test is a failure
	go vet ./...
	@$(if $(RACE),,echo "no C compiler: the tests run without the race detector")
	@$(MAKE) --no-print-directory -j2 raced unraced

# Beside each other, since most of unraced is waiting.
raced: testgate
	$(if $(RACE),CGO_ENABLED=1) $(GATE) $(RACE) -shuffle=on -vet=off -ldflags=-w $(LONG) ./runner ./monitor $(filter-out $(UNRACED),$(patsubst ralph/%,./%,$(shell go list ./...)))

unraced: testgate
	$(GATE) -shuffle=on -vet=off -ldflags=-w $(LONG) $(UNRACED)

# podman in tests: what works inside other containers and virtual machines, too.
check raced unraced e2e sandbox-image: export CONTAINERS_CONF ?= $(CURDIR)/scripts/containers.conf

sandbox-image: ## the image for tests of SANDBOX=podman (needs podman, runc and debootstrap, once)
	scripts/sandbox-image

rules: ## what is easily forgotten, in a minute: vet, the house rules, stale generated files
	go vet ./...
	go test -vet=off ./internal/archtest
	go test -vet=off $(GENERATED) -run Generated

e2e: testgate tools-for-tests ## ralph with real agent CLIs against a mock API (needs npm, once)
	go vet -tags e2e ./internal/e2e/...
	$(GATE) -tags e2e -count=1 -v -timeout 20m ./internal/e2e/...

faults: ## the long form of the fault suite: hours; RALPH_FAULTS_PERCENT=10 makes it shorter
	go test -tags faults -count=1 -v -timeout 4h ./internal/faults ./cmd/internal/hub/fleet

bench: ## figures of speed and size beside their bounds; a missed one is named, and no failure; QUICK=1: in a minute
	go run ./internal/bench $(if $(QUICK),quick)
	$(if $(QUICK),,go test -run '^$$' -bench . -benchtime 20x ./runner/agent ./ptyexec ./monitor ./runner/git ./runner/audit ./runner/gate/... ./runner/sandbox ./logs ./state)

lint: $(GOLANGCI) ## golangci-lint, pinned; the first time it is built into .cache
	$(GOLANGCI) run

$(GOLANGCI):
	GOBIN=$(CURDIR)/.cache/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv .cache/bin/golangci-lint $@

vuln: $(GOVULNCHECK) ## known vulnerabilities in what the programs call; needs the network
	scripts/vuln $(GOVULNCHECK)

$(GOVULNCHECK):
	GOBIN=$(CURDIR)/.cache/bin go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv .cache/bin/govulncheck $@

# On Windows the programs only name WSL2. The packages below them do not build there: they need
# terminals, process groups and file locks of Unix, and renameio, which refuses Windows.
cross: ## what is not built for a release: the programs on Windows, and vet on macOS with its tests
	GOOS=windows GOARCH=amd64 $(BUILD) -o dist/windows-amd64/ $(PROGRAMS:%=./cmd/%)
	CGO_ENABLED=0 GOOS=darwin go vet ./...

generate: ## write the files that are made from tables (docs, .ralphrc.example)
	go test $(GENERATED) -run Generated -update

# quietly COMMAND: what it prints is shown only if it fails.
quietly = @mkdir -p .cache && { $(1) >.cache/install.log 2>&1 || { cat .cache/install.log >&2; exit 1; }; }
INTO    = $(DESTDIR)$(PREFIX)

install: ## programs, man pages and completions below $(PREFIX)
	@echo "Building ralph. The first time, this takes about a minute."
	$(call quietly,$(BUILD) -o bin/ ./cmd/ralph)
	@install -d $(DEST:%=$(INTO)/%) && install -m 755 bin/ralph $(INTO)/bin/
	@for link in $(LINKS); do ln -sf ralph $(INTO)/bin/$$link; done
	@echo "ralph is installed. Building ralph-hub: dashboard, messages, fleet. The first time, this takes a few minutes more."
	$(call quietly,$(BUILD) -o bin/ ./cmd/ralph-hub)
	@install -m 755 bin/ralph-hub $(INTO)/bin/
	@echo "ralph-hub is installed. Writing man pages and completions."
	$(call quietly,$(SHIPPED))
	@install -m 644 .cache/shipped/man/*.1 $(INTO)/share/man/man1/
	@install -m 644 .cache/shipped/completions/ralph.bash $(INTO)/share/bash-completion/completions/ralph
	@install -m 644 .cache/shipped/completions/_ralph $(INTO)/share/zsh/site-functions/
	@install -m 644 .cache/shipped/completions/ralph.fish $(INTO)/share/fish/vendor_completions.d/
	@echo "Everything is in $(INTO). Next, type: ralph demo; then, in your project: ralph init"
	@[ -n "$(DESTDIR)" ] || case ":$$PATH:" in \
	*":$(INTO)/bin:"*) echo "$(INTO)/bin is on your PATH." ;; \
	*) echo "$(INTO)/bin is not on your PATH. Add it: export PATH=\"$(INTO)/bin:\$$PATH\"" ;; \
	esac

uninstall: ## remove what make install wrote
	cd $(DESTDIR)$(PREFIX) && rm -f $(PROGRAMS:%=bin/%) $(LINKS:%=bin/%) share/man/man1/ralph.1 share/man/man1/ralph-*.1 \
		share/bash-completion/completions/ralph share/zsh/site-functions/_ralph share/fish/vendor_completions.d/ralph.fish

clean: ## remove what was built
	rm -rf bin dist

# Missing tools are installed where that is permitted; else their tests skip.
tools-for-tests:
	@scripts/need git:git tmux:tmux strace:strace bwrap:bubblewrap || \
		{ echo "the tests that need it are skipped, each by name"; test "$(RALPH_REQUIRE)" != all; }

testgate:
	@go build -o $(GATE) ./internal/testgate
