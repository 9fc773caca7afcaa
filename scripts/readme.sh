#!/usr/bin/env bash
# Runs the reference sweeps and writes their rows into README.md, between its two markers.
# usage: scripts/readme.sh DATA, where DATA holds cranfield/, med/, xquad-en/, sift5k/ and minilm778/
set -euo pipefail
data=$(cd "${1:?give the folder that holds the data sets}" && pwd)
cd "$(dirname "$0")/.."
out=out/reference
for marker in '<!-- reference table -->' '<!-- end of reference table -->'; do
  grep -qF -- "$marker" README.md || {
    echo "readme: README.md has no line $marker to write the table at" >&2
    exit 1
  }
done
run() { # name, sweep file, then --set arguments
  local name=$1 file=$2
  shift 2
  bin/frontier sweep "examples/reference/$file.yaml" --out "$out/$name" --fresh --set "name=$name" "$@" >/dev/null
}
for name in cranfield med; do
  run $name beir --set "dataset.corpus=$data/$name/corpus.jsonl" --set "dataset.queries=$data/$name/queries.jsonl" --set "dataset.qrels=$data/$name/qrels/test.tsv"
done
run xquad-en golden --set "dataset.corpus=$data/xquad-en/corpus.jsonl" --set "dataset.queries=$data/xquad-en/golden.jsonl"
run sift5k vectors --set "vectors.base=$data/sift5k/base.fvecs" --set "vectors.queries=$data/sift5k/query.fvecs" --set "vectors.truth=$data/sift5k/groundtruth.ivecs"
run minilm778 vectors --set "vectors.base=$data/minilm778/base.fbin" --set "vectors.queries=$data/minilm778/query.fbin" --set vectors.metric=cosine

table=$(mktemp)
page=$(mktemp)
trap 'rm -f "$table" "$page"' EXIT
{
  # One weight of the convex fusions stands for all, which the reference tests pin.
  bin/frontier pareto $out/cranfield $out/med $out/xquad-en --all --where 'fusion == nil || fusion == "rrf" || fusion_param == 0.5 && fusion_norm == "min-max"' --format markdown \
    --columns name,engine,embedder,ef_search,fusion,ndcg_at_10,recall_at_10,ann_recall_at_10,latency_p50_seconds
  echo
  bin/frontier pareto $out/sift5k $out/minilm778 --all --format markdown \
    --columns name,engine,index_spec,ef_search,nprobe,ann_recall_at_10,ann_recall_p05_at_10,latency_p50_seconds,latency_p99_seconds,qps
} >"$table"
awk -v table="$table" '
  /<!-- reference table -->/ { print; print ""; while ((getline line < table) > 0) print line; print ""; skip = 1; next }
  /<!-- end of reference table -->/ { skip = 0 }
  !skip' README.md >"$page"
cat "$page" >README.md
