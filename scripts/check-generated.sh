#!/usr/bin/env bash
# Generates again whatever is generated, and fails if that changes anything.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/check-generated.sh; fi

state() { git status --porcelain && git diff | git hash-object --stdin; }
before=$(state)
go generate ./...
after=$(state)
if [ "$before" != "$after" ]; then
  echo "generated files were not current; commit what make generate changed:" >&2
  git status --short >&2
  exit 1
fi
