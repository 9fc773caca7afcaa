#!/usr/bin/env bash
# Shows how the time of exact search grows with rows and with queries, beside brute force of FAISS (IndexFlatL2) and
# hnswlib (BFIndex), where Python can install them, on the same vectors: DIM (32) random bytes each, l2, K (10)
# neighbours, all cores. Prints a table, writes out/truth-scaling.csv (or OUT) and, where matplotlib can be installed, a
# picture beside it, and checks that all find the same distances.
#
#   ROWS="10000 30000 ..."     base rows, each with QUERIES_FIXED (1000) queries
#   QUERIES="10000 30000 ..."  queries, each with ROWS_FIXED (10000) base rows
#
# The time of frontier includes reading the base from the page cache; that of the others is of the search alone. The
# exponent that is printed is the slope of log(time) over log(size) for sizes of 100,000 and more: 1 is linear.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then exec scripts/with-engines.sh scripts/truth-scaling.sh "$@"; fi

sizes="10000 30000 100000 300000 1000000 2000000"
rows_list=${ROWS:-$sizes} queries_list=${QUERIES:-$sizes}
rows_fixed=${ROWS_FIXED:-10000} queries_fixed=${QUERIES_FIXED:-1000}
dim=${DIM:-32} k=${K:-10} rounds=${ROUNDS:-3} out=${OUT:-out/truth-scaling.csv}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/frontier" ./cmd/frontier

# vectors FILE ROWS writes a u8bin file: two little-endian uint32, then random bytes.
vectors() {
  local n
  for n in "$2" "$dim"; do
    # shellcheck disable=SC2059 # the format is what is made here
    printf "$(printf '\\x%02x' $((n & 255)) $((n >> 8 & 255)) $((n >> 16 & 255)) $((n >> 24 & 255)))"
  done >"$1"
  head -c $(($2 * dim)) /dev/urandom >>"$1"
}

have=""
if { python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install --quiet numpy; } >"$dir/pip.log" 2>&1; then
  for package in faiss-cpu hnswlib; do
    if "$dir/venv/bin/pip" install --quiet "$package" >>"$dir/pip.log" 2>&1; then have="$have ${package%-cpu}"; fi
  done
fi
if [ -z "$have" ]; then echo "truth-scaling: neither faiss-cpu nor hnswlib can be installed here: nothing to compare with" >&2; fi

cat >"$dir/theirs.py" <<'PY'
import sys, time, os
import numpy as np

tool, base, queries, truth, k, rounds = sys.argv[1:4] + [sys.argv[4], int(sys.argv[5]), int(sys.argv[6])]

def read(path):
    n, d = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, "u1", offset=8).reshape(n, d).astype("float32")

x, q = read(base), read(queries)
if tool == "faiss":
    import faiss
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    search = lambda: index.search(q, k)[0]
else:
    import hnswlib
    index = hnswlib.BFIndex(space="l2", dim=x.shape[1])
    index.init_index(max_elements=len(x))
    index.add_items(x, np.arange(len(x)))
    if hasattr(index, "set_num_threads"):
        index.set_num_threads(os.cpu_count())
    search = lambda: index.knn_query(q, k=k)[1]
best = None
for _ in range(rounds):
    start = time.perf_counter()
    distances = search()
    seconds = time.perf_counter() - start
    best = seconds if best is None else min(best, seconds)
# Squared distances of bytes are whole numbers that float32 holds, so that all must agree. The order of hnswlib's is its own.
want = np.load(truth)
if not np.allclose(np.sort(distances, axis=1), want, rtol=1e-6, atol=0.5):
    sys.exit(tool + " finds other distances than frontier")
print("%.4f" % best)
PY

# ours prints the least seconds of frontier, as it counts them. set -e does not reach into $(...).
ours() {
  local least='' seconds
  for _ in $(seq "$rounds"); do
    "$dir/frontier" truth --base "$dir/base.u8bin" --queries "$dir/queries.u8bin" -k "$k" --metric l2 -o "$dir/gt.npy" --distances "$dir/distances.npy" 2>"$dir/log" || {
      cat "$dir/log" >&2
      return 1
    }
    seconds=$(sed -nE 's/^truth: 100.0% .*, ([0-9.]+) s$/\1/p' "$dir/log")
    if [[ ! $seconds =~ ^[0-9.]+$ ]]; then
      echo "truth-scaling: no one time in what frontier says:" >&2
      cat "$dir/log" >&2
      return 1
    fi
    least=$(echo "$seconds ${least:-$seconds}" | awk '{ print ($1 < $2) ? $1 : $2 }')
  done
  echo "$least"
}

# point AXIS ROWS QUERIES measures one point with all tools.
point() {
  local tool seconds
  vectors "$dir/base.u8bin" "$2"
  vectors "$dir/queries.u8bin" "$3"
  for tool in frontier $have; do
    if [ "$tool" = frontier ]; then
      seconds=$(ours)
    else
      seconds=$("$dir/venv/bin/python" "$dir/theirs.py" "$tool" "$dir/base.u8bin" "$dir/queries.u8bin" "$dir/distances.npy" "$k" "$rounds")
    fi
    echo "$1,$tool,$2,$3,$dim,$k,$seconds" | awk -F, -v OFS=, '{ print $0, sprintf("%.1f", 2 * $3 * $4 * $5 / ($7 > 0 ? $7 : 1e-4) / 1e9) }' >>"$out"
    tail -n 1 "$out" | awk -F, '{ printf "%-8s %-9s %9d rows x %9d queries: %9.3f s %7s GFLOP/s\n", $1, $2, $3, $4, $7, $8 }'
  done
}

mkdir -p "$(dirname "$out")"
echo "axis,tool,rows,queries,dim,k,seconds,gflops" >"$out"
echo "truth-scaling: $dim dimensions, k = $k, $(getconf _NPROCESSORS_ONLN) cores, best of $rounds; compare with:${have:- nothing}"
for n in $rows_list; do point rows "$n" "$queries_fixed"; done
for n in $queries_list; do point queries "$rows_fixed" "$n"; done

awk -F, 'NR > 1 {
  size = $1 == "rows" ? $3 : $4
  if (size < 100000) next
  key = $1 "," $2; x = log(size); y = log($7)
  n[key]++; sx[key] += x; sy[key] += y; sxx[key] += x * x; sxy[key] += x * y
} END {
  for (key in n) if (n[key] > 1) {
    split(key, part, ",")
    printf "growth with %-8s %-9s time ~ size^%.2f\n", part[1] ":", part[2], (n[key] * sxy[key] - sx[key] * sy[key]) / (n[key] * sxx[key] - sx[key] ^ 2)
  }
}' "$out" | sort

cat >"$dir/plot.py" <<'PY'
import csv, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

rows = list(csv.DictReader(open(sys.argv[1])))
dim, k = rows[0]["dim"], rows[0]["k"]
axes = [a for a in ("rows", "queries") if any(r["axis"] == a for r in rows)]
figure, panels = plt.subplots(1, len(axes), figsize=(4.6 * len(axes), 3.8), squeeze=False, sharey=True, layout="constrained")
for panel, axis in zip(panels[0], axes):
    fixed = "queries" if axis == "rows" else "rows"
    here = [r for r in rows if r["axis"] == axis]
    for tool, marker in zip(dict.fromkeys(r["tool"] for r in here), "os^"):
        mine = [r for r in here if r["tool"] == tool]
        panel.loglog([int(r[axis]) for r in mine], [float(r["seconds"]) for r in mine], marker + "-", label=tool)
    panel.set_xlabel("%s (%s %s)" % (axis, "{:,}".format(int(here[0][fixed])), fixed))
    panel.grid(True, which="major", alpha=0.4)
panels[0][0].set_ylabel("seconds")
panels[0][0].legend()
figure.suptitle("Exact search, %s dimensions, k = %s, all cores" % (dim, k), fontsize=11)
figure.savefig(sys.argv[2], dpi=130)
PY
picture=${out%.csv}.png
if [ -d "$dir/venv" ] && "$dir/venv/bin/pip" install --quiet matplotlib >>"$dir/pip.log" 2>&1; then
  "$dir/venv/bin/python" "$dir/plot.py" "$out" "$picture"
  echo "truth-scaling: the picture is $picture"
else
  echo "truth-scaling: matplotlib cannot be installed here: no picture" >&2
fi
echo "truth-scaling: all tools found the same distances; figures are in $out"
