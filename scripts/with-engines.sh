#!/usr/bin/env bash
# Runs a command with the build tags and compiler flags of the engines that this machine has, through GOFLAGS, so that
# go build, go vet, go test and the linters all see the same code: scripts/with-engines.sh go test ./...
# The engines are looked for once: what a script of ours starts inherits the answer.
set -euo pipefail

if [ -z "${FRONTIER_ENGINES+set}" ]; then
  found=$("$(dirname "$0")/engines.sh" ${FRONTIER_REPORT:+--report})
  eval "$found"
  export FRONTIER_ENGINES=$ENGINE_TAGS
  if [ -n "$ENGINE_TAGS" ]; then export GOFLAGS="${GOFLAGS:-} -tags=$ENGINE_TAGS"; fi
fi
exec "$@"
