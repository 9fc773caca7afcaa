#!/usr/bin/env bash
# Runs every benchmark of the packages that have any. Arguments go to go test: scripts/bench.sh -benchtime=1x
# Each benchmark checks its answers, so one pass is a test of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/bench.sh "$@"; fi

packages=$(git ls-files -co --exclude-standard '*.go' | grep -vE '^(tools|e2e)/' |
  xargs grep -lE '\*testing\.(B|TB)\b' /dev/null | xargs -n 1 dirname | sort -u | sed 's,^,./,')
if [ -z "$packages" ]; then
  echo "bench: found no benchmark, which cannot be right" >&2
  exit 1
fi
# One package at a time: two at once would time each other.
# shellcheck disable=SC2086 # one argument a package is what is wanted
go test -run '^$' -bench . -benchmem -p 1 "$@" $packages
