#!/usr/bin/env bash
# Runs all linters over the code as it is built here, and over the code as it is built without cgo. Their versions are
# pinned in tools/go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/lint.sh; fi

failed=
step() {
  local name=$1
  shift
  if ! "$@"; then
    echo "lint: $name failed" >&2
    failed=1
  fi
}

# The tools are built without the engines' flags, which are of no use to them.
bin=$PWD/bin/tools
mkdir -p "$bin"
for tool in mvdan.cc/gofumpt honnef.co/go/tools/cmd/staticcheck github.com/polyfloyd/go-errorlint frontier/tools/confine; do
  (cd tools && GOFLAGS='' CGO_ENABLED=0 go build -o "$bin/" "$tool")
done

formatted() {
  local files
  files=$("$bin/gofumpt" -l .) || return
  [ -z "$files" ] && return
  echo "not formatted; run make fmt:" >&2
  echo "$files" >&2
  return 1
}

# both_ways checks the code with the engines and without cgo in one run, so that what only one of them uses is not
# reported as unused by the other.
both_ways() {
  printf 'here: -tags=%s\nnocgo: CGO_ENABLED=0\n' "$FRONTIER_ENGINES" | GOFLAGS='' "$bin/staticcheck" -matrix ./...
}

scripts_clean() {
  if ! command -v shellcheck >/dev/null; then
    echo "shellcheck is not installed: the shell scripts were not checked" >&2
    return 0
  fi
  shellcheck scripts/*.sh .ci/run
}

tidy() { (cd "$1" && GOFLAGS='' go mod tidy -diff); }
vet() { (cd "$1" && GOFLAGS='' go vet ./...); }

step gofumpt formatted
step 'go vet' go vet ./...
step staticcheck both_ways
step errorlint "$bin/go-errorlint" ./...
step 'go vet without cgo' env CGO_ENABLED=0 go vet ./...
step 'output outside of commands' "$bin/confine" .
step 'go vet in tools' vet tools
step 'go vet in e2e' vet e2e
step 'go vet in the generator of kernels' vet internal/kernels/gen
step 'go mod tidy' tidy .
step 'go mod tidy in tools' tidy tools
step 'go mod tidy in e2e' tidy e2e
step 'go mod tidy in the generator of kernels' tidy internal/kernels/gen
step shellcheck scripts_clean
[ -z "$failed" ]
