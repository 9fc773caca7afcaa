package embedders

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"frontier/internal/kernels"
	"frontier/internal/param"
	"frontier/internal/testdata"
)

func mustFit(t testing.TB, kind string, given param.Values, seed uint64, texts []string) Embedder {
	t.Helper()
	p := complete(t, kind, given)
	e, err := Find(Kinds(), kind).Fit(context.Background(), p, seed, list(texts))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func complete(t testing.TB, kind string, given param.Values) param.Values {
	t.Helper()
	k := Find(Kinds(), kind)
	if k == nil {
		t.Fatalf("no kind %q", kind)
	}
	p, err := param.Complete(k.Params, given)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func list(texts []string) Texts {
	return func() iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, t := range texts {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

func embedList(t testing.TB, e Embedder, texts []string) [][]float32 {
	t.Helper()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, e.Dim())
		if err := e.Embed(text, out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// collection is a BEIR data set, documents as title and text.
type collection struct {
	ids, docs         []string
	queryIDs, queries []string
	grades            map[string]map[string]int
}

func readCollection(t testing.TB, name string) collection {
	t.Helper()
	c := collection{grades: make(map[string]map[string]int)}
	lines(t, name+"/corpus.jsonl", func(line string) {
		id, title, text := record(t, line)
		c.ids, c.docs = append(c.ids, id), append(c.docs, strings.TrimSpace(title+"\n"+text))
	})
	lines(t, name+"/queries.jsonl", func(line string) {
		id, _, text := record(t, line)
		c.queryIDs, c.queries = append(c.queryIDs, id), append(c.queries, text)
	})
	lines(t, name+"/qrels/test.tsv", func(line string) {
		f := strings.Split(line, "\t")
		grade, err := strconv.Atoi(f[2])
		if err != nil {
			return // the header
		}
		if c.grades[f[0]] == nil {
			c.grades[f[0]] = make(map[string]int)
		}
		c.grades[f[0]][f[1]] = grade
	})
	return c
}

func record(t testing.TB, line string) (id, title, text string) {
	t.Helper()
	var d struct {
		ID          string `json:"_id"`
		Title, Text string
	}
	if err := json.Unmarshal([]byte(line), &d); err != nil {
		t.Fatal(err)
	}
	return d.ID, d.Title, d.Text
}

func lines(t testing.TB, name string, each func(line string)) {
	t.Helper()
	f, err := os.Open(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		each(in.Text())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// ndcg10 is the mean nDCG@10, with grades as gains, of exact search by inner product.
func (c collection) ndcg10(t testing.TB, e Embedder) float64 {
	docs, queries := embedList(t, e, c.docs), embedList(t, e, c.queries)
	sum, n := 0.0, 0
	for q, v := range queries {
		grades := c.grades[c.queryIDs[q]]
		var gains []int
		for _, g := range grades {
			gains = append(gains, g)
		}
		slices.SortFunc(gains, func(a, b int) int { return b - a })
		ideal := 0.0
		for i, g := range gains[:min(10, len(gains))] {
			ideal += float64(g) / math.Log2(float64(i+2))
		}
		if ideal == 0 {
			continue
		}
		type hit struct {
			doc   int
			score float32
		}
		hits := make([]hit, len(docs))
		for d := range docs {
			hits[d] = hit{d, kernels.Dot(v, docs[d])}
		}
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
		})
		dcg := 0.0
		for i, h := range hits[:10] {
			dcg += float64(grades[c.ids[h.doc]]) / math.Log2(float64(i+2))
		}
		sum += dcg / ideal
		n++
	}
	return sum / float64(n)
}

// The floors are what was measured, less 0.02. BM25 gives 0.36 and 0.67.
func TestQualityOnRealCollections(t *testing.T) {
	for _, c := range []struct {
		set, kind string
		dim       int
		floor     float64
	}{
		{"cranfield", "hash", 256, 0.238},
		{"cranfield", "hash", 1024, 0.300},
		{"cranfield", "lsa", 128, 0.386},
		{"med", "hash", 256, 0.431},
		{"med", "hash", 1024, 0.629},
		{"med", "lsa", 128, 0.776},
	} {
		t.Run(fmt.Sprintf("%s/%s%d", c.set, c.kind, c.dim), func(t *testing.T) {
			if underRace && c.set == "cranfield" {
				t.Skip("too slow under the race detector; med runs the same code")
			}
			set := readCollection(t, c.set)
			got := set.ndcg10(t, mustFit(t, c.kind, param.Values{"dim": c.dim}, 1, set.docs))
			t.Logf("nDCG@10 %.4f", got)
			if got < c.floor {
				t.Errorf("nDCG@10 is %.4f, less than %.3f", got, c.floor)
			}
		})
	}
}

// BenchmarkFitLSA fits 5,000 texts of about 200 words.
func BenchmarkFitLSA(b *testing.B) {
	texts := chunksOf(readCollection(b, "cranfield"), 5000, 200)
	for _, dim := range []int{128, 256} {
		b.Run(fmt.Sprint(dim), func(b *testing.B) {
			var e Embedder
			for b.Loop() {
				e = mustFit(b, "lsa", param.Values{"dim": dim}, 1, texts)
			}
			checkUnit(b, e, texts[0])
		})
	}
}

func BenchmarkFitHash(b *testing.B) {
	texts := chunksOf(readCollection(b, "cranfield"), 5000, 200)
	var e Embedder
	for b.Loop() {
		e = mustFit(b, "hash", nil, 1, texts)
	}
	checkUnit(b, e, texts[0])
}

func BenchmarkEmbed(b *testing.B) {
	set := readCollection(b, "cranfield")
	texts := chunksOf(set, 1000, 200)
	for _, kind := range []string{"hash", "lsa"} {
		e := mustFit(b, kind, param.Values{"dim": 256}, 1, texts)
		dst := make([]float32, e.Dim())
		for name, of := range map[string][]string{"chunk": texts, "query": set.queries} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := e.Embed(of[i%len(of)], dst); err != nil {
						b.Fatal(err)
					}
				}
				checkUnit(b, e, of[0])
			})
		}
	}
}

// chunksOf makes n texts of so many words from the documents, over and over from other places.
func chunksOf(c collection, n, words int) []string {
	all := strings.Fields(strings.Join(c.docs, " "))
	out := make([]string, n)
	for i := range out {
		at := i * 137 % (len(all) - words)
		out[i] = strings.Join(all[at:at+words], " ")
	}
	return out
}

func checkUnit(t testing.TB, e Embedder, text string) {
	t.Helper()
	v := embedList(t, e, []string{text})[0]
	if n := float64(kernels.Dot(v, v)); math.Abs(n-1) > 1e-5 {
		t.Fatalf("the squared length is %g, not 1", n)
	}
}
