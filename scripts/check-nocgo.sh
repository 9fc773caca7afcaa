#!/usr/bin/env bash
# Builds and tests without cgo. faiss and hnswlib are then absent, and everything else has to work.
set -euo pipefail
cd "$(dirname "$0")/.."

export CGO_ENABLED=0
unset FRONTIER_ENGINES
binary=$(mktemp)
trap 'rm -f "$binary"' EXIT
go build -o "$binary" ./cmd/frontier
"$binary" version
scripts/test.sh ./...
