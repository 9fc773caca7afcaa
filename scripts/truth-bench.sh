#!/usr/bin/env bash
# Measures frontier's exact search against FAISS's IndexFlat and against the matrix product (sgemm) of the same shape: the
# same files, in turns, each with all cores. FAISS is given each division of the cores between its own threads and
# OpenBLAS's, and each variant of OpenBLAS that this machine has or apt can download; the best counts. All figures are
# printed, as the best of ROUNDS turns. Needs FAISS and OpenBLAS with their headers (make install-deps).
#
#   N=200000 QUERIES=1000 DIMS="128 768" ROUNDS=5 scripts/truth-bench.sh
set -euo pipefail
cd "$(dirname "$0")/.."

n=${N:-200000} queries=${QUERIES:-1000} dims=${DIMS:-128 768} rounds=${ROUNDS:-5} k=100
cores=$(nproc)
# Some machines preset these for the sake of other programs; OpenBLAS chooses better itself.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS OMP_NUM_THREADS

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# blas_variants prints "NAME FOLDER" of each OpenBLAS: those that are installed, and those that apt can fetch.
blas_variants() {
  local name dir
  for name in openmp pthread; do
    for dir in /usr/lib/*/openblas-"$name"; do
      [ -e "$dir/libopenblas.so.0" ] && echo "$name $dir" && continue 2
    done
    command -v apt-get >/dev/null || continue
    (cd "$work" && apt-get download "libopenblas0-$name" >/dev/null 2>&1 && dpkg -x libopenblas0-"$name"_*.deb "$name") || continue
    for dir in "$work/$name"/usr/lib/*/openblas-"$name"; do
      [ -e "$dir/libopenblas.so.0" ] && echo "$name $dir"
    done
  done
}

include=()
for dir in /usr/include/*/openblas-*; do [ -d "$dir" ] && include=("-I$dir"); done
read -ra cxx <<<"${CXX:-g++}"
"${cxx[@]}" -O3 -march=native -fopenmp ${include[@]+"${include[@]}"} -o "$work/truthbench" scripts/truthbench/truthbench.cpp \
  -l:libfaiss.a -lopenblas -lgomp
go test -c -o "$work/truth.test" ./bench/truth
blas_variants >"$work/blas" || true
if [ ! -s "$work/blas" ]; then
  echo "truth-bench: no OpenBLAS is installed, and apt has none: run make install-deps" >&2
  exit 1
fi

# rate KEY SECONDS DIM keeps the best rate of each key.
declare -A best
rate() {
  local got
  got=$(awk -v n="$n" -v q="$queries" -v d="$3" -v s="$2" 'BEGIN { printf "%.1f", 2 * n * q * d / s / 1e9 }')
  best[$1]=$(awk -v a="$got" -v b="${best[$1]:-0}" 'BEGIN { print (a > b) ? a : b }')
}

# highest PREFIX prints the best rate of all keys that start so, and the key.
highest() {
  local key
  for key in "${!best[@]}"; do
    case $key in "$1"*) echo "${best[$key]} ${key#"$1"}" ;; esac
  done | sort -rn | head -n 1
}

echo "truth-bench: n=$n queries=$queries k=$k; $cores cores; load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown) before"
sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1
for dim in $dims; do
  data=$work/d$dim
  mkdir "$data"
  "$work/truthbench" gen "$data" "$n" "$queries" "$dim"
  for _ in $(seq "$rounds"); do
    while read -r name dir; do
      for threads in "1 $cores" "$cores 1" "$cores $cores"; do
        read -r faiss blas <<<"$threads"
        for metric in l2 ip; do
          rate "$dim/faiss/$metric/openblas-$name,faiss=$faiss,blas=$blas" \
            "$(LD_LIBRARY_PATH=$dir "$work/truthbench" faiss "$data" $metric $k "$faiss" "$blas" 2)" "$dim"
        done
      done
      rate "$dim/sgemm/openblas-$name" "$(LD_LIBRARY_PATH=$dir "$work/truthbench" sgemm "$data" "$cores" 2)" "$dim"
    done <"$work/blas"
    # go test prints "BenchmarkExactOnFiles/l2-2  3  ...  325.3 best-GFLOP/s ..." and checks the ids against FAISS's.
    FRONTIER_TRUTH_BENCH=$data "$work/truth.test" -test.run '^$' -test.bench OnFiles -test.benchtime 3x >"$work/ours"
    while read -r metric got; do
      key=$dim/frontier/$metric
      best[$key]=$(awk -v a="$got" -v b="${best[$key]:-0}" 'BEGIN { print (a > b) ? a : b }')
    done < <(awk '/^BenchmarkExactOnFiles/ { split($1, part, /[\/-]/); for (i = 2; i <= NF; i++) if ($i == "best-GFLOP/s") print part[2], $(i - 1) }' "$work/ours")
  done

  echo
  echo "d=$dim, GFLOP/s, best of $rounds turns:"
  for key in $(printf '%s\n' "${!best[@]}" | grep "^$dim/" | sort); do printf '  %-52s %8s\n' "${key#"$dim"/}" "${best[$key]}"; done
  read -r sgemm _ <<<"$(highest "$dim/sgemm/")"
  for metric in l2 ip; do
    ours=${best[$dim/frontier/$metric]}
    read -r faiss how <<<"$(highest "$dim/faiss/$metric/")"
    awk -v m=$metric -v o="$ours" -v f="$faiss" -v s="$sgemm" -v how="$how" 'BEGIN {
      printf "  %s: %.2f x FAISS at its best (%s), %.0f%% of sgemm\n", m, o / f, how, 100 * o / s }'
  done
  rm -r "$data"
done
echo
echo "load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown) after"
