#!/usr/bin/env bash
# Does what a newcomer does: clones the repository, runs make demo, and looks at what came out. Only what is committed
# is in the clone. The clone, its results and its cache of artifacts are deleted afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
  echo "demo-check: checks the last commit; changes that are not committed are left out" >&2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet . "$work/frontier"
cd "$work/frontier"
export FRONTIER_CACHE=$work/cache
# What an outer make or an outer build found out must not leak into the newcomer's.
unset FRONTIER_ENGINES MAKEFLAGS MFLAGS MAKELEVEL
GOFLAGS=$(sed -E 's/(^| )-tags=[^ ]*//g' <<<"${GOFLAGS:-}")
export GOFLAGS

fail() {
  echo "demo-check: $1" >&2
  if [ -f "$work/first.log" ]; then tail -n 20 "$work/first.log" >&2; fi
  exit 1
}

start=$SECONDS
make demo >"$work/frontier.txt" 2>"$work/first.log" || fail "make demo failed"
took=$((SECONDS - start))
for file in results.parquet report.html manifest.json; do
  [ -s "out/quickstart/$file" ] || fail "out/quickstart/$file is missing or empty"
done
[ -n "$(find out/quickstart/queries -name '*.parquet' -size +0)" ] || fail "out/quickstart/queries holds no results"
[ "$(head -c 4 out/quickstart/results.parquet)" = PAR1 ] || fail "results.parquet is not a Parquet file"
[ "$(wc -l <"$work/frontier.txt")" -ge 2 ] || fail "make demo printed no frontier"
grep -q 'out/quickstart/report.html' "$work/first.log" || fail "make demo did not print the path of the report"

bin/frontier sweep examples/quickstart.yaml --out out/quickstart >/dev/null 2>"$work/second.log" || {
  cat "$work/second.log" >&2
  fail "the second run failed"
}
grep -qE '\b0 measured now' "$work/second.log" || {
  cat "$work/second.log" >&2
  fail "the second run measured again, or does not say that it did not"
}
# The policy to start from tells all points of the quick start apart, and passes a run that is the same.
bin/frontier gate out/quickstart out/quickstart --policy examples/gate.yaml >"$work/gate.txt" 2>&1 || {
  cat "$work/gate.txt" >&2
  fail "examples/gate.yaml does not pass the quick start against itself"
}
cat "$work/frontier.txt"
echo "demo-check: make demo took $took s in a clean clone; a second run measured nothing again"
