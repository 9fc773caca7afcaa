# frontier: `make demo` to try it, `make test` for everything that CI runs.
# Works with GNU make 3.81 and later. Anything longer than a line is in scripts/.

SHELL := /bin/bash
WITH  := scripts/with-engines.sh

# How long each fuzz target runs; longer before a release.
FUZZTIME ?= 1s
export FUZZTIME

.DEFAULT_GOAL := help
.PHONY: help demo install-deps build test ci unit race lint fmt check-nocgo check-neon check-darwin e2e fuzz bench bench-once \
	generate check-generated demo-check clean
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: ## install what is missing, build, sweep the docs of your own Go, print the frontier
	@scripts/demo.sh

install-deps: ## install a C++ compiler, FAISS, hnswlib and OpenBLAS, where apt or Homebrew can
	@scripts/install-deps.sh

build: ## build bin/frontier with the engines that this machine has
	@scripts/build.sh

test: install-deps ## everything that CI runs
	@$(WITH) $(MAKE) --no-print-directory ci-steps

ci: test ## the same, by another name

unit: ## go test ./..., quick, without the race detector
	@scripts/test.sh ./...

race: ## go test -race -short ./... with all engines; what -short leaves out runs in check-nocgo
	@GORACE=atexit_sleep_ms=0 scripts/test.sh -race -short ./...

lint: ## gofumpt, go vet, staticcheck, errorlint, shellcheck, go mod tidy; no output outside cmd
	@scripts/lint.sh

fmt: ## format the code with gofumpt
	@go tool -modfile=tools/go.mod gofumpt -w .

check-nocgo: ## build and test without cgo: all but faiss and hnswlib
	@scripts/check-nocgo.sh

check-neon: ## test the kernels for 64-bit ARM, under qemu-user elsewhere
	@scripts/check-neon.sh

check-darwin: ## compile everything for macOS, without cgo (not part of test: it takes minutes)
	@GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go build ./...

e2e: build ## sweep, then read the results folder with DuckDB
	@FRONTIER_PYTHON="$$(scripts/python.sh)" FRONTIER_BIN="$(CURDIR)/bin/frontier" FRONTIER_TEST_DIR=e2e scripts/test.sh -count=1 ./...

fuzz: ## fuzz every target for FUZZTIME (1s) each
	@scripts/fuzz.sh

bench: ## run all benchmarks
	@scripts/bench.sh

bench-once: ## run each benchmark once, at its reduced size where it has one, as a test of its answers
	@scripts/bench.sh -benchtime=1x -short

generate: ## generate what is generated
	@$(WITH) go generate ./...

check-generated: ## fail if generated files are not current
	@scripts/check-generated.sh

demo-check: ## run make demo in a clean clone and check what comes out
	@scripts/demo-check.sh

clean: ## delete bin/ and out/
	@rm -rf bin out

# The steps of `make test`, in the order in which they fail soonest. Each is timed.
.PHONY: ci-steps
ci-steps:
	@scripts/steps.sh build lint race check-nocgo check-neon e2e bench-once fuzz check-generated demo-check
