#!/usr/bin/env bash
# Runs go test with the engines that this machine has, prints what go test prints, and closes with the number of tests
# that passed, failed and were skipped, and why. Arguments go to go test: scripts/test.sh -race ./...
# FRONTIER_TEST_DIR names the module to test, from the root of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/test.sh "$@"; fi

mkdir -p bin/tools
(cd tools && GOFLAGS='' CGO_ENABLED=0 go build -o ../bin/tools/ ./testsummary)
summary=$PWD/bin/tools/testsummary
cd "${FRONTIER_TEST_DIR:-.}"
# testsummary decides. It is told what go test ended with, as one that was killed leaves no event that says so; on a line of
# its own, wherever go test stopped.
{
  code=0
  go test -json "$@" 2>&1 || code=$?
  printf '\n{"Action":"exit","Output":"%d"}\n' "$code"
} | "$summary"
