#!/usr/bin/env bash
# Fuzzes every target in the repository for FUZZTIME each (default 1s), as many at once as there are cores, each with
# one worker. Targets are found in the code, so that none is forgotten. An input that fails is written to testdata/fuzz
# of its package: commit it with the fix.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/fuzz.sh "$@"; fi

# scripts/fuzz.sh --one FILE:TARGET is one target.
if [ "${1:-}" = --one ]; then
  file=${2%%:*} target=${2##*:}
  package=./$(dirname "$file")
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # Minimising interesting inputs would take most of such a short time.
  if go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-1s}" -fuzzminimizetime 10x -parallel 1 "$package" >"$log" 2>&1; then
    # A target may be in a file that build constraints leave out here.
    if grep -q 'no fuzz tests to fuzz' "$log"; then
      echo "fuzz: $package $target: not built here"
    else
      echo "fuzz: $package $target: $(grep -E '^fuzz: elapsed' "$log" | tail -n 1 | sed -E 's/^fuzz: //')"
    fi
  elif grep -q 'context deadline exceeded' "$log" && ! grep -qE 'Failing input written|panic:|terminated unexpectedly' "$log"; then
    # Go before 1.27 may report its own end of -fuzztime as a failure (golang/go#75804). A real one leaves its input.
    echo "fuzz: $package $target: ended at its deadline without a failing input"
  else
    cat "$log"
    echo "fuzz: $package $target: FAILED"
    exit 1
  fi
  exit 0
fi

targets=$(git ls-files -co --exclude-standard '*_test.go' | grep -vE '^(tools|e2e)/' |
  xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null | sed 's/func //' | sort -u)
if [ -z "$targets" ]; then
  echo "fuzz: found no target, which cannot be right" >&2
  exit 1
fi
# xargs ends with 123 if any of them failed, after all of them have run.
if ! echo "$targets" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 scripts/fuzz.sh --one; then
  echo "fuzz: of $(echo "$targets" | wc -l) targets, some failed" >&2
  exit 1
fi
echo "fuzz: $(echo "$targets" | wc -l) targets, none failed"
