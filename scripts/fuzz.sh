#!/usr/bin/env bash
# Fuzzes every target in the repository for FUZZTIME each (default 5s). Targets are found in the code, so that none is
# forgotten. An input that fails is written to testdata/fuzz of its package: commit it with the fix.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh "$0"; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
count=0
failed=0
while IFS=: read -r file target; do
  package=./$(dirname "$file")
  count=$((count + 1))
  # Minimising interesting inputs would take most of such a short time.
  if go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-5s}" -fuzzminimizetime 10x "$package" >"$log" 2>&1; then
    # A target may be in a file that build constraints leave out here.
    if grep -q 'no fuzz tests to fuzz' "$log"; then
      echo "fuzz: $package $target: not built here"
      continue
    fi
    echo "fuzz: $package $target: $(grep -E '^fuzz: elapsed' "$log" | tail -n 1 | sed -E 's/^fuzz: //')"
  elif grep -q 'context deadline exceeded' "$log" && ! grep -qE 'Failing input written|panic:|terminated unexpectedly' "$log"; then
    # Go before 1.27 may report its own end of -fuzztime as a failure (golang/go#75804). A real one leaves its input.
    echo "fuzz: $package $target: ended at its deadline without a failing input"
  else
    failed=$((failed + 1))
    cat "$log"
  fi
done < <(git ls-files -co --exclude-standard '*_test.go' | grep -vE '^(tools|e2e)/' |
  xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null | sed 's/func //' | sort -u)

echo "fuzz: $count targets, $failed failed"
if [ "$count" = 0 ]; then
  echo "fuzz: found no target, which cannot be right" >&2
  exit 1
fi
[ "$failed" = 0 ]
