package bleve

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/testdata"
)

func texts(all []string) func() iter.Seq2[string, error] {
	return func() iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, text := range all {
				if !yield(text, nil) {
					return
				}
			}
		}
	}
}

func complete(t testing.TB, given param.Values) param.Values {
	t.Helper()
	params, err := param.Complete(Engine().Params, given)
	if err != nil {
		t.Fatal(err)
	}
	return params
}

func open(t testing.TB, all []string, given param.Values) indexes.Index {
	t.Helper()
	params := complete(t, given)
	in := indexes.Input{Texts: texts(all), Threads: 1, Dir: t.TempDir()}
	built, err := Engine().Build(context.Background(), in, params)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Engine().Load(context.Background(), in.Dir, in, params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	if x.Len() != len(all) || x.Bytes() != built.Bytes || built.Bytes <= 0 || !math.IsNaN(built.TrainSeconds) {
		t.Errorf("%d rows, %d bytes, built %+v", x.Len(), x.Bytes(), built)
	}
	return x
}

func find(t testing.TB, x indexes.Index, question string, k int) []int64 {
	t.Helper()
	hits, err := x.Search(indexes.Query{Text: question}, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{}
	for i, h := range hits {
		if i > 0 && h.Score > hits[i-1].Score {
			t.Fatalf("%q: hits are out of order: %v", question, hits)
		}
		ids = append(ids, h.ID)
	}
	return ids
}

var farm = []string{
	"The quick brown fox jumps over the lazy dog",
	"Foxes are quick",
	"dogs bark",
	"",
	"dogs bark",
	"the of and",
	"Überraschung: naïve café, 東京",
}

func TestSearch(t *testing.T) {
	x := open(t, farm, nil)
	for question, want := range map[string][]int64{
		"fox":                {1, 0}, // the shorter text first
		"barking DOGS":       {2, 4, 0},
		"dog's":              {2, 4, 0},
		"bark":               {2, 4}, // a tie goes to the smaller row
		"unheard":            {},
		"":                   {},
		"the of and":         {}, // stop words
		"?!":                 {},
		"überraschung":       {6},
		"CAFÉ":               {6},
		"+fox -dog text:the": {1, 2, 4, 0}, // no query language
	} {
		got := find(t, x, question, 10)
		if question == "+fox -dog text:the" {
			slices.Sort(got)
			want = []int64{0, 1, 2, 4}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, expected %v", question, got, want)
		}
	}
	if got := find(t, x, "dogs", 2); len(got) != 2 {
		t.Errorf("asked for 2, got %v", got)
	}
	if got := find(t, x, "dogs", 1<<40); len(got) != 3 {
		t.Errorf("asked for more than there are, got %v", got)
	}
}

func TestStandardAnalyzerDoesNotStem(t *testing.T) {
	x := open(t, farm, param.Values{"analyzer": "standard"})
	if got := find(t, x, "fox", 10); !slices.Equal(got, []int64{0}) {
		t.Errorf("fox finds %v", got)
	}
}

// The score is bleve's variant of BM25, worked out here from its definition (see Defects) for a question of one word:
// with a single word the doubled rarity cancels against the norm of the query.
func TestScoreIsBM25(t *testing.T) {
	x := open(t, []string{"apple apple apple apple pear", "apple", "plum plum", "pear plum cherry"}, param.Values{"k1": 1.5, "b": 0.5})
	hits, err := x.Search(indexes.Query{Text: "apple"}, 10, nil)
	if err != nil || len(hits) != 2 {
		t.Fatalf("%v, %v", hits, err)
	}
	idf := math.Log(1 + (4-2+0.5)/(2+0.5))
	score := func(frequency, length float64) float64 {
		tf, mean := math.Sqrt(frequency), math.Ceil(4.0/4) // 4 different words in 4 texts
		return idf * tf * 1.5 / (tf + 1.5*(1-0.5+0.5*length/mean))
	}
	for _, h := range hits {
		want := map[int64]float64{0: score(4, 5), 1: score(1, 1)}[h.ID]
		if math.Abs(float64(h.Score)-want) > 1e-5 {
			t.Errorf("text %d has score %v, expected %v", h.ID, h.Score, want)
		}
	}
}

func TestSettingsActAndExclude(t *testing.T) {
	all := []string{"fox", "fox " + strings.Repeat("word ", 50)}
	spread := func(b float64) float64 {
		params := complete(t, param.Values{"b": b})
		in := indexes.Input{Texts: texts(all), Dir: t.TempDir()}
		if _, err := Engine().Build(context.Background(), in, params); err != nil {
			t.Fatal(err)
		}
		x, err := Engine().Load(context.Background(), in.Dir, in, params)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		other := complete(t, param.Values{"b": b, "k1": 3.0})
		second := indexes.Input{Texts: texts(all), Dir: t.TempDir()}
		if _, err := Engine().Build(context.Background(), second, other); err != nil {
			t.Fatal(err)
		}
		if _, err := Engine().Load(context.Background(), second.Dir, second, other); err == nil || !strings.Contains(err.Error(), "whole process") {
			t.Errorf("a second setting beside the first gives %v", err)
		}
		hits, err := x.Search(indexes.Query{Text: "fox"}, 2, nil)
		if err != nil || len(hits) != 2 {
			t.Fatalf("%v, %v", hits, err)
		}
		return float64(hits[0].Score - hits[1].Score)
	}
	if none, full := spread(0), spread(1); none != 0 || full <= 0 {
		t.Errorf("scores differ by %v with b = 0 and by %v with b = 1", none, full)
	}
}

func TestSeveralSegmentsAndThreads(t *testing.T) {
	var all []string // more than two of the builder's batches of 1000
	for i := range 2500 {
		all = append(all, fmt.Sprintf("number%d group%d common", i, i%10))
	}
	x := open(t, all, nil)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := g; i < len(all); i += 97 {
				hits, err := x.Search(indexes.Query{Text: fmt.Sprintf("number%d", i)}, 5, nil)
				if err != nil || len(hits) != 1 || hits[0].ID != int64(i) {
					t.Errorf("number%d: %v, %v", i, hits, err)
					return
				}
			}
		})
	}
	wait.Wait()
	if got, want := find(t, x, "group3 common", 20)[:3], []int64{3, 13, 23}; !slices.Equal(got, want) {
		t.Errorf("ties: %v, expected %v", got, want)
	}
}

func TestRefusals(t *testing.T) {
	params := complete(t, nil)
	boom := errors.New("boom")
	build := func(seq func() iter.Seq2[string, error], ctx context.Context) error {
		_, err := Engine().Build(ctx, indexes.Input{Texts: seq, Dir: t.TempDir()}, params)
		return err
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := build(nil, context.Background()); err == nil {
		t.Error("no texts are not refused")
	}
	if err := build(texts(nil), context.Background()); err == nil {
		t.Error("zero texts are not refused")
	}
	if err := build(texts(farm), cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	failing := func() iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { _ = yield("a", nil) && yield("", boom) }
	}
	if err := build(failing, context.Background()); !errors.Is(err, boom) || !strings.Contains(err.Error(), "text 1") {
		t.Errorf("a failing reader: %v", err)
	}
	if _, err := Engine().Load(context.Background(), t.TempDir(), indexes.Input{}, params); err == nil {
		t.Error("an empty folder is loaded")
	}
	x := open(t, farm, nil)
	if _, err := x.Search(indexes.Query{Text: "fox"}, 0, nil); err == nil {
		t.Error("k = 0 is not refused")
	}
	var wrong *param.Error
	if _, _, err := x.Set(param.Values{"ef_search": int64(1)}, 10); !errors.As(err, &wrong) {
		t.Errorf("a foreign search parameter gives %v", err)
	}
	for _, bad := range []param.Values{{"k1": 0.0}, {"b": 1.5}, {"analyzer": "xx"}} {
		if _, err := param.Complete(Engine().Params, bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

func TestDamagedFolderIsRefused(t *testing.T) {
	params := complete(t, nil)
	in := indexes.Input{Texts: texts(farm), Dir: t.TempDir()}
	if _, err := Engine().Build(context.Background(), in, params); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(in.Dir, dirName, "index_meta.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Engine().Load(context.Background(), in.Dir, in, params); err == nil {
		t.Error("a damaged folder is loaded")
	}
}

// Titles and texts of real collections, unchunked, with graded nDCG@10 as trec_eval defines it.
func TestQuality(t *testing.T) {
	for set, least := range map[string]float64{"cranfield": 0.35, "med": 0.66} {
		t.Run(set, func(t *testing.T) {
			c := readCollection(t, set)
			x := open(t, c.texts, nil)
			var sum float64
			var judged int
			for id, question := range c.queries {
				grades := c.grades[id]
				ideal := ideal(grades, 10)
				if ideal == 0 {
					continue
				}
				judged++
				for rank, row := range find(t, x, question, 10) {
					sum += float64(max(0, grades[c.ids[row]])) / math.Log2(float64(rank)+2) / ideal
				}
			}
			ndcg := sum / float64(judged)
			t.Logf("nDCG@10 is %.4f over %d questions, %d bytes", ndcg, judged, x.Bytes())
			if ndcg < least {
				t.Errorf("nDCG@10 is %.4f, expected at least %.2f", ndcg, least)
			}
		})
	}
}

func ideal(grades map[string]int, k int) float64 {
	var all []int
	for _, g := range grades {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(b, a) })
	var sum float64
	for rank, g := range all[:min(k, len(all))] {
		sum += float64(max(0, g)) / math.Log2(float64(rank)+2)
	}
	return sum
}

type collection struct {
	ids, texts []string
	queries    map[string]string
	grades     map[string]map[string]int
}

func readCollection(t testing.TB, set string) collection {
	t.Helper()
	c := collection{queries: map[string]string{}, grades: map[string]map[string]int{}}
	type record struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	readLines(t, set+"/corpus.jsonl", func(line string) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		c.ids, c.texts = append(c.ids, r.ID), append(c.texts, r.Title+"\n"+r.Text)
	})
	readLines(t, set+"/queries.jsonl", func(line string) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		c.queries[r.ID] = r.Text
	})
	readLines(t, set+"/qrels/test.tsv", func(line string) {
		cols := strings.Split(line, "\t")
		grade, err := strconv.Atoi(cols[2])
		if err != nil {
			return // the heading
		}
		if c.grades[cols[0]] == nil {
			c.grades[cols[0]] = map[string]int{}
		}
		c.grades[cols[0]][cols[1]] = grade
	})
	return c
}

func readLines(t testing.TB, name string, each func(string)) {
	t.Helper()
	f, err := os.Open(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		each(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSearch(b *testing.B) {
	c := readCollection(b, "cranfield")
	x := open(b, c.texts, nil)
	questions := make([]string, 0, len(c.queries))
	for _, q := range c.queries {
		questions = append(questions, q)
	}
	slices.Sort(questions)
	dst := make([]indexes.Hit, 0, 10)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		hits, err := x.Search(indexes.Query{Text: questions[i%len(questions)]}, 10, dst)
		if err != nil || len(hits) != 10 {
			b.Fatalf("%q: %d hits, %v", questions[i%len(questions)], len(hits), err)
		}
		i++
	}
}
