package e2e

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const quick = `{k: [1, 10], load: [{closed: 1}], rounds: 2, min_time: 100ms, warmup: 10ms, max_time: 2s}`

func TestSyntheticVectors(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "vectors.yaml", `
version: 1
name: synthetic
seed: 7
vectors: {metric: l2, synthetic: {n: 800, dim: 16, clusters: 20, spread: 0.8, queries: 60}}
indexes:
  - {engine: flat}
  - {engine: coder, M: 8, search: {ef_search: [16, 64]}}
  - {engine: hnswlib, M: 8, ef_construction: 40, search: {ef_search: [16, 64]}}
  - {engine: faiss, factory: "IVF{nlist},Flat", nlist: 8, search: {nprobe: [1, 4, 8]}}
measure: `+quick+`
objectives: [ann_recall_at_10:max, latency_p50_seconds:min]
`)
	points, have := 3, engines(t)
	if have["hnswlib"] {
		points += 2
	}
	if have["faiss"] {
		points += 3
	}
	r := sweep(t, file)
	checkFolder(t, r, points, []int{1, 10})
	r.none(t, "exact search is not exact", "select point_id, ann_recall_at_10 from results where engine = 'flat' and ann_recall_at_10 <> 1")
	r.none(t, "shape", "select point_id, vectors, dim, metric from results where not (vectors = 800 and dim = 16 and metric = 'l2' and queries = 60)")
	r.none(t, "text column without text", "select point_id from results where coalesce(chunker, embedder, unit) is not null or documents is not null")
	if have["faiss"] {
		r.none(t, "all lists searched, and not all found", "select point_id, ann_recall_at_10 from results where engine = 'faiss' and nprobe = 8 and ann_recall_at_10 <> 1")
		r.none(t, "more lists found less", `
			select a.nprobe, a.ann_recall_at_10, b.nprobe, b.ann_recall_at_10 from results a, results b
			where a.engine = 'faiss' and b.engine = 'faiss' and a.nprobe < b.nprobe and a.ann_recall_at_10 > b.ann_recall_at_10`)
	}
	checkRepeat(t, r, file)
}

// sweep runs a sweep into a folder of its own and opens the results. The cache lies beside them, for checkRepeat.
func sweep(t *testing.T, file string, args ...string) results {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	frontier(t, filepath.Join(dir, "cache"), append([]string{"sweep", file, "--out", out}, args...)...)
	return open(t, out)
}

// checkRepeat runs the same sweep again: nothing is measured again, and the table stays as it was.
func checkRepeat(t *testing.T, r results, file string) {
	t.Helper()
	const measured = "select point_id, started_at, latency_mean_seconds, qps, samples from results order by point_id"
	before := r.table(t, measured)
	_, said := frontier(t, filepath.Join(filepath.Dir(r.dir), "cache"), "sweep", file, "--out", r.dir)
	if !strings.Contains(said, "(0 measured now") {
		t.Errorf("the second run does not say that it measured nothing:\n%s", said)
	}
	if after := r.table(t, measured); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the second run changed measurements:\nbefore %v\nafter  %v", before, after)
	}
}

// writeText writes a corpus of made-up words in which each query has exactly the documents that share its rare word:
// corpus.jsonl, golden.jsonl and qrels.tsv.
func writeText(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var corpus, golden, qrels strings.Builder
	const documents, topics = 96, 24
	for d := range documents {
		topic := d % topics
		var text strings.Builder
		for range 6 {
			fmt.Fprintf(&text, "topic%d", topic)
			for range 25 {
				fmt.Fprintf(&text, " word%d", rng.IntN(400))
			}
			text.WriteString(" straße 東京 naïve.\\n\\n")
		}
		fmt.Fprintf(&corpus, "{\"_id\": \"d%d\", \"title\": \"Number %d\", \"text\": \"%s\"}\n", d, d, text.String())
		fmt.Fprintf(&qrels, "q%d\td%d\t1\n", topic, d)
	}
	for q := range topics {
		fmt.Fprintf(&golden, "{\"id\": \"q%d\", \"query\": \"where is topic%d\", \"scenario\": \"%s\", \"expected_document_ids\": [\"d%d\", \"d%d\", \"d%d\", \"d%d\"]}\n",
			q, q, []string{"even", "odd"}[q%2], q, q+topics, q+2*topics, q+3*topics)
	}
	write(t, dir, "corpus.jsonl", corpus.String())
	write(t, dir, "golden.jsonl", golden.String())
	write(t, dir, "qrels.tsv", "query-id\tcorpus-id\tscore\n"+qrels.String())
}

// TestText sweeps the corpus of writeText.
func TestText(t *testing.T) {
	dir := t.TempDir()
	writeText(t, dir)
	file := write(t, dir, "text.yaml", `
version: 1
name: text
seed: 7
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
chunkers:
  - {kind: recursive, unit: words, size: 40, overlap: [0, 10%]}
  - {kind: none}
embedders:
  - {kind: lsa, dim: 32}
  - {kind: hash, dim: 256}
indexes:
  - {engine: flat}
  - {engine: bleve, k1: 1.2, b: 0.75, analyzer: standard}
  - {engine: hybrid, of: [bleve, flat], fusion: [{rrf: 60}]}
measure: `+quick+`
objectives: [recall_at_10:max, latency_p50_seconds:min]
cost: {qps: 50, replicas: 2}
`)
	r := sweep(t, file)
	// 3 chunkings x (2 embedders x (flat + hybrid) + bleve)
	checkFolder(t, r, 15, []int{1, 10})
	checkRecall(t, r, filepath.Join(dir, "qrels.tsv"), 10)
	r.none(t, "BM25 does not find a word that only the gold has", "select point_id, recall_at_10 from results where engine = 'bleve' and recall_at_10 < 0.999")
	r.none(t, "shape", "select point_id from results where not (documents = 96 and queries = 24 and queries_answerable = 24 and unit = 'document' and chunks >= documents) is true")
	r.none(t, "whole documents are cut", "select point_id, chunks from results where chunker = 'none' and chunks <> 96")
	r.none(t, "cut documents are whole", "select point_id, chunks from results where chunker = 'recursive' and chunks <= 96")
	r.none(t, "lexical engine with an embedder", "select point_id from results where engine = 'bleve' and coalesce(embedder, metric) is not null")
	r.none(t, "cost", "select point_id from results where not (cost_usd_per_month > 0 and cost_usd_per_million_queries > 0 and machines >= 2) is true")
	r.none(t, "scenario", "select query_id, scenario from queries where scenario <> if(substr(query_id, 2)::int % 2 = 0, 'even', 'odd')")
	checkRepeat(t, r, file)
}

// checkRecall computes recall at k from the ranked documents of each query and the judgements, in SQL alone.
func checkRecall(t *testing.T, r results, qrels string, k int) {
	t.Helper()
	r.exec(t, fmt.Sprintf(`create or replace view judged as
		select column0 query_id, column1 as doc, column2::int grade
		from read_csv(%s, delim = '\t', header = false, skip = 1, all_varchar = true)`, quote(qrels)))
	r.exec(t, fmt.Sprintf(`create or replace view recomputed as
		with gold as (select query_id, count(*) n from judged where grade >= 1 group by all),
		ranked as (select point_id, query_id, unnest(list_slice(coalesce(documents, ids), 1, %d)) as doc from queries),
		found as (select point_id, query_id, count(*) n from ranked join judged using (query_id, doc) where grade >= 1 group by all)
		select point_id, query_id, coalesce(found.n, 0) / gold.n recall
		from queries join gold using (query_id) left join found using (point_id, query_id)`, k))
	if r.number(t, "select count(*) from recomputed") == 0 {
		t.Fatal("nothing to compare with")
	}
	r.none(t, "recall of a query", fmt.Sprintf(`
		select point_id, query_id, recall, q.recall_at_%[1]d from recomputed join queries q using (point_id, query_id)
		where (abs(recall - q.recall_at_%[1]d) < 1e-9) is not true`, k))
	r.none(t, "recall of a point", fmt.Sprintf(`
		select point_id, mean, r.recall_at_%[1]d from (select point_id, avg(recall) mean from recomputed group by all) join results r using (point_id)
		where (abs(mean - r.recall_at_%[1]d) < 1e-9) is not true`, k))
}

func TestCranfield(t *testing.T) {
	qrels := testdata(t, "cranfield/qrels/test.tsv")
	file := write(t, t.TempDir(), "cranfield.yaml", fmt.Sprintf(`
version: 1
name: cranfield
seed: 42
dataset: {corpus: %q, queries: %q, qrels: %q}
chunkers: [{kind: none}]
embedders: [{kind: lsa, dim: 128}]
indexes:
  - {engine: bleve, k1: 1.2, b: 0.75, analyzer: en}
  - {engine: flat}
measure: %s
objectives: [recall_at_10:max, latency_p50_seconds:min]
`, testdata(t, "cranfield/corpus.jsonl"), testdata(t, "cranfield/queries.jsonl"), qrels, quick))
	r := sweep(t, file)
	checkFolder(t, r, 2, []int{1, 10})
	checkRecall(t, r, qrels, 10)
	if got := r.number(t, "select ndcg_at_10 from results where engine = 'bleve'"); got < 0.35 {
		t.Errorf("nDCG@10 of BM25 is %.3f, which is below that of a plain implementation", got)
	}
	if got := r.number(t, "select ann_recall_at_10 from results where engine = 'flat'"); got != 1 {
		t.Errorf("recall of exact search is %v", got)
	}
	checkNDCG(t, r)
}

// checkNDCG computes nDCG@10 in SQL, with the grades as gains, as trec_eval does.
func checkNDCG(t *testing.T, r results) {
	t.Helper()
	r.none(t, "nDCG of a query", `
		with ranked as (select point_id, query_id, unnest(coalesce(documents, ids)) as doc, generate_subscripts(coalesce(documents, ids), 1) rank from queries),
		dcg as (select point_id, query_id, sum(grade / log2(rank + 1)) v from ranked join judged using (query_id, doc) where rank <= 10 group by all),
		best as (select query_id, grade, row_number() over (partition by query_id order by grade desc) rank from judged where grade > 0),
		ideal as (select query_id, sum(grade / log2(rank + 1)) v from best where rank <= 10 group by all)
		select point_id, query_id, coalesce(dcg.v, 0) / ideal.v mine, q.ndcg_at_10
		from queries q join ideal using (query_id) left join dcg using (point_id, query_id)
		where (abs(coalesce(dcg.v, 0) / ideal.v - q.ndcg_at_10) < 1e-9) is not true`)
}

// TestSIFT compares recall with the neighbours that were published with the data, read by code of this test's own.
func TestSIFT(t *testing.T) {
	truth := testdata(t, "sift5k/groundtruth.ivecs")
	file := write(t, t.TempDir(), "sift.yaml", fmt.Sprintf(`
version: 1
name: sift
seed: 42
vectors: {base: %q, queries: %q, truth: %q, metric: l2}
indexes:
  - {engine: flat}
  - {engine: hnswlib, M: 8, ef_construction: 40, search: {ef_search: [10, 40]}}
  - {engine: coder, M: 8, search: {ef_search: [16]}}
measure: %s
objectives: [ann_recall_at_10:max, latency_p50_seconds:min]
`, testdata(t, "sift5k/base.fvecs"), testdata(t, "sift5k/query.fvecs"), truth, quick))
	points := 2
	if engines(t)["hnswlib"] {
		points += 2
	}
	r := sweep(t, file)
	checkFolder(t, r, points, []int{1, 10})

	neighbors := readIvecs(t, truth)
	for _, row := range r.table(t, "select point_id, query_id::int, list_transform(ids[:10], x -> x::int), ann_recall_at_10 from queries") {
		query, ids, reported := int(row[1].(int32)), row[2].([]any), row[3].(float64)
		found := 0
		for _, id := range ids {
			for _, want := range neighbors[query][:10] {
				if id.(int32) == want {
					found++
				}
			}
		}
		if got := float64(found) / 10; math.Abs(got-reported) > 1e-9 {
			t.Errorf("point %v, query %d: recall %v, reported as %v", row[0], query, got, reported)
		}
	}
}

// readIvecs reads rows of an int32 count and as many little-endian int32.
func readIvecs(t *testing.T, path string) [][]int32 {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]int32
	for len(raw) >= 4 {
		n := int(binary.LittleEndian.Uint32(raw))
		row := make([]int32, n)
		for i := range row {
			row[i] = int32(binary.LittleEndian.Uint32(raw[4+4*i:]))
		}
		rows, raw = append(rows, row), raw[4+4*n:]
	}
	return rows
}
