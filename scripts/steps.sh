#!/usr/bin/env bash
# Runs targets of the Makefile one after the other, says how long each took, and stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

for target in "$@"; do
  echo "== make $target"
  start=$SECONDS
  if ! "${MAKE:-make}" --no-print-directory "$target"; then
    echo "== make $target FAILED after $((SECONDS - start)) s" >&2
    exit 1
  fi
  echo "== make $target: $((SECONDS - start)) s"
done
echo "== all steps passed in $SECONDS s"
