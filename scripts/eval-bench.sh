#!/usr/bin/env bash
# Times `frontier eval` against pytrec_eval on the same files, reading included, and checks that both print the same
# figures. The data is generated: QUERIES queries (default 10000) of RESULTS results (1000) and JUDGED judgements (50).
# pytrec_eval is installed into a virtual environment of its own, from pytrec-eval-terrier, which has it ready to run;
# where that cannot be done, only frontier is timed. Needs about 600 MB of disk and 8 GB of memory, most for pytrec_eval.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/eval-bench.sh "$@"; fi

export LC_ALL=C # numbers have points
queries=${QUERIES:-10000} results=${RESULTS:-1000} judged=${JUDGED:-50} rounds=${ROUNDS:-3}
metrics=map,recip_rank,P_10,recall_100,ndcg_cut_10

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/frontier" ./cmd/frontier

# Scores descend, as in nearly every run, and have few digits, so that pytrec_eval's float32 ties where float64 does.
awk -v Q="$queries" -v R="$results" -v J="$judged" -v dir="$dir" 'BEGIN {
  srand(7)
  for (q = 1; q <= Q; q++) {
    for (r = 1; r <= R; r++) printf "%d Q0 doc-%07d %d %.3f bench\n", q, (q * 7919 + r * 104729) % 8000000, r, (R - r) / 50 > dir "/run.txt"
    for (j = 1; j <= J; j++) {
      d = (j % 2) ? (q * 7919 + (1 + int(rand() * R / J) + int((j - 1) * R / J)) * 104729) % 8000000 : 8000000 + j
      printf "%d 0 doc-%07d %d\n", q, d, int(rand() * 4) > dir "/qrels.txt"
    }
  }
}'
echo "eval-bench: $queries queries x $results results, $(du -m "$dir/run.txt" | cut -f1) MB; $(getconf _NPROCESSORS_ONLN) cores"

# best runs a command several times with its output in a file, and prints the least seconds. It fails if the command does:
# set -e does not reach into $(...).
best() {
  local out=$1 least='' seconds TIMEFORMAT=%3R
  shift
  for _ in $(seq "$rounds"); do
    seconds=$({ time "$@" >"$out" 2>"$dir/errors"; } 2>&1) || {
      echo "eval-bench: $1 failed: $(cat "$dir/errors")" >&2
      return 1
    }
    least=$(echo "$seconds ${least:-$seconds}" | awk '{ print ($1 < $2) ? $1 : $2 }')
  done
  echo "$least"
}

ours=$(best "$dir/ours" "$dir/frontier" eval --qrels "$dir/qrels.txt" --run "$dir/run.txt" --metrics "$metrics" --format trec)
echo "frontier eval: $ours s (best of $rounds)"
cat "$dir/ours"

if ! { python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install --quiet pytrec-eval-terrier; } >"$dir/pip.log" 2>&1; then
  tail -n 3 "$dir/pip.log" >&2
  echo "eval-bench: pytrec_eval cannot be installed here (needs python3 with venv, pip and its package index): nothing to compare with" >&2
  exit 0
fi
cat >"$dir/theirs.py" <<'PY'
import sys
import pytrec_eval

measures = sys.argv[3].split(",")
with open(sys.argv[1]) as f:
    qrels = pytrec_eval.parse_qrel(f)
with open(sys.argv[2]) as f:
    run = pytrec_eval.parse_run(f)
figures = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
for name in ["map", "recip_rank", "P_10", "recall_100", "ndcg_cut_10"]:
    print("%-22s\tall\t%.4f" % (name, sum(q[name] for q in figures.values()) / len(figures)))
PY
theirs=$(best "$dir/theirs" "$dir/venv/bin/python" "$dir/theirs.py" "$dir/qrels.txt" "$dir/run.txt" "$metrics")
echo "pytrec_eval: $theirs s (best of $rounds)"
if ! diff "$dir/theirs" "$dir/ours"; then
  echo "eval-bench: the figures differ" >&2
  exit 1
fi
echo "eval-bench: the same figures, $(echo "$theirs $ours" | awk '{ printf "%.1f", $1 / $2 }') times as fast"
