package trec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"frontier/bench/ranking"
	"frontier/datasets"
)

// The worked example: q4 is judged, and missing from the run.
const (
	exampleQrels = "q1 0 d3 1\nq2 0 d7 1\nq2 0 d2 1\nq3 0 d11 1\nq4 0 d5 1\n"
	exampleDocs  = "q1 d8 d3 d1 d4 d2 d9 d6 d10 d12 d13\nq2 d2 d6 d4 d7 d1 d3 d8 d11 d5 d9\nq3 d11 d2 d3 d4 d1 d6 d7 d8 d10 d12\n"
)

func exampleRun() string {
	var b strings.Builder
	for line := range strings.Lines(exampleDocs) {
		query, docs, _ := strings.Cut(strings.TrimSpace(line), " ")
		for i, doc := range strings.Fields(docs) {
			fmt.Fprintf(&b, "%s Q0 %s %d %d example\n", query, doc, i+1, 10-i)
		}
	}
	return b.String()
}

func evaluateText(t *testing.T, qrels string, run io.Reader, o Options) (*Report, error) {
	t.Helper()
	q, err := datasets.ReadQrels("qrels", strings.NewReader(qrels), datasets.QrelsAuto)
	if err != nil {
		t.Fatal(err)
	}
	if o.Measures == nil {
		o.Measures = measures(t, "recall_5,recip_rank,ndcg_cut_5,map,P_5,num_rel,judged_5")
	}
	o.RelevanceMin = max(o.RelevanceMin, 1)
	return Evaluate(context.Background(), q, "run", run, o)
}

func TestMissingQueries(t *testing.T) {
	for _, c := range []struct {
		only bool
		want []string
	}{
		{false, []string{"0.7500", "0.6250", "0.6270", "0.5625", "0.2000", "5", "0.2667"}},
		{true, []string{"1.0000", "0.8333", "0.8360", "0.7500", "0.2667", "4", "0.2667"}},
	} {
		r, err := evaluateText(t, exampleQrels, strings.NewReader(exampleRun()), Options{RunQueriesOnly: c.only})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, m := range r.Options.Measures {
			got = append(got, printed(m, r.Totals[i]))
		}
		if !slices.Equal(got, c.want) || r.Judged != 4 || r.Missing != 1 || r.Ignored != 0 || r.Tag != "example" {
			t.Errorf("only queries of the run %v: got %v, want %v; %+v", c.only, got, c.want, r)
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `1 of 4 judged queries are missing from the run (the first is "q4")`) {
			t.Errorf("warnings %q", r.Warnings)
		}
	}
}

func TestWarnings(t *testing.T) {
	r, err := evaluateText(t, "q1 0 d 0\nq2 0 d 1\n", strings.NewReader("q1 Q0 x 1 1 t\nq3 Q0 x 1 1 t\nq2 Q0 x 1 1 t\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Warnings, "\n")
	for _, part := range []string{
		`1 queries of the run have no judgements (the first is "q3", line 2)`, `1 judged queries have no document of grade 1 or more (the first is "q1")`,
		"none of the documents retrieved was judged",
	} {
		if !strings.Contains(all, part) {
			t.Errorf("warnings %q lack %q", r.Warnings, part)
		}
	}
	if len(r.Warnings) != 3 || r.Ignored != 1 {
		t.Errorf("warnings %q, %d ignored", r.Warnings, r.Ignored)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		qrels, run string
		parts      []string
	}{
		"duplicate":           {"1 0 a 1\n", "1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n", []string{"run:3: ", `query "1" has document "a" here and on line 1`}},
		"unjudged duplicate":  {"1 0 a 1\n", "1 Q0 z 1 3 t\n# c\n1 Q0 z 1 3 t\n", []string{"run:3: ", `document "z" here and on line 1`}},
		"unjudged query":      {"1 0 a 1\n", "1 Q0 a 1 3 t\n7 Q0 z 1 3 t\n7 Q0 z 1 3 t\n", []string{"run:3: ", `query "7" has document "z"`}},
		"other queries":       {"1 0 a 1\n2 0 a 1\n", "q1 Q0 a 1 3 t\n", []string{"run:1: ", "none of the 1 queries", `"q1"`, `it is "1"`}},
		"leading zeros":       {"1 0 a 1\n2 0 a 1\n", "2 Q0 a 1 1 t\n01 Q0 a 1 3 t\n", []string{"run:2: ", "leading zeros"}},
		"no results":          {"1 0 a 1\n", "\n", []string{"run: ", "no results"}},
		"scattered duplicate": {"1 0 a 1\n", "1 Q0 a 1 3 t\n2 Q0 a 1 3 t\n1 Q0 a 1 3 t\n", []string{"run:3: ", "on line 1"}},
	} {
		for workers := 1; workers <= 2; workers++ {
			_, err := evaluateText(t, c.qrels, strings.NewReader(c.run), Options{Workers: workers})
			var fault *datasets.Error
			if !errors.As(err, &fault) {
				t.Errorf("%s: got %v", name, err)
				continue
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %q lacks %q", name, err, part)
				}
			}
		}
	}
	if _, err := Evaluate(context.Background(), nil, "run", strings.NewReader(""), Options{}); err == nil {
		t.Error("no measures are no error")
	}
	if _, err := evaluateText(t, "1 0 a 1\n", strings.NewReader("1 Q0 a 1 3 t\n"), Options{RelevanceMin: -1, Measures: measures(t, "map")}); err != nil {
		t.Error(err)
	}
}

// The order of lines in a run means nothing; of a pipe it must keep queries together.
func TestShuffledRun(t *testing.T) {
	lines := strings.SplitAfter(exampleRun(), "\n")
	want, err := evaluateText(t, exampleQrels, strings.NewReader(strings.Join(lines, "")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(41, 42))
	for range 50 {
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		text := strings.Join(lines, "")
		got, err := evaluateText(t, exampleQrels, strings.NewReader(text), Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got.Totals, want.Totals, near) {
			t.Fatalf("got %v, want %v", got.Totals, want.Totals)
		}
		if _, err := evaluateText(t, exampleQrels, io.MultiReader(strings.NewReader(text)), Options{}); !errors.Is(err, datasets.ErrScattered) {
			t.Fatalf("through a pipe: %v", err)
		}
	}
}

// A grader orders results as ranking.Order does.
func TestGraderOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	g := newGrader()
	for range 2000 {
		var ids []string
		var scores []float64
		r := &datasets.Ranking{Query: "q"}
		var judgements []datasets.Judgement
		for i, d := range rng.Perm(40)[:rng.IntN(30)] {
			id := fmt.Sprint(d)
			ids, scores = append(ids, id), append(scores, float64(rng.IntN(4)))
			r.Results = append(r.Results, datasets.Result{Document: []byte(id), Score: scores[i], Line: i + 1})
			judgements = append(judgements, datasets.Judgement{Document: id, Grade: d})
		}
		var want []int32
		for _, i := range ranking.Order(ids, scores) {
			want = append(want, int32(judgements[i].Grade))
		}
		got, err := g.grade("run", judgements, r)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("documents %v, scores %v: got %v, %v; want %v", ids, scores, got, err, want)
		}
	}
}

func TestWriteFormats(t *testing.T) {
	r, err := evaluateText(t, exampleQrels, strings.NewReader(exampleRun()), Options{Measures: measures(t, "runid,map,gm_map,judged_5,num_ret")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format   string
		perQuery bool
		want     string
	}{
		{"table", false, "measure    value\nmap       0.5625\ngm_map    0.0440\njudged_5  0.2667\nnum_ret       30\n"},
		{"table", true, "query     map  gm_map  judged_5  num_ret\nq1     0.5000       -    0.2000       10\nq2     0.7500       -    0.4000       10\n" +
			"q3     1.0000       -    0.2000       10\nq4     0.0000       -         -        0\nall    0.5625  0.0440    0.2667       30\n"},
		{"markdown", false, "| measure | value |\n| --- | ---: |\n| map | 0.5625 |\n| gm_map | 0.0440 |\n| judged_5 | 0.2667 |\n| num_ret | 30 |\n"},
		{"trec", true, "map                   \tq1\t0.5000\njudged_5              \tq1\t0.2000\nnum_ret               \tq1\t10\n" +
			"map                   \tq2\t0.7500\njudged_5              \tq2\t0.4000\nnum_ret               \tq2\t10\n" +
			"map                   \tq3\t1.0000\njudged_5              \tq3\t0.2000\nnum_ret               \tq3\t10\n" +
			"map                   \tq4\t0.0000\nnum_ret               \tq4\t0\n" +
			"runid                 \tall\texample\nmap                   \tall\t0.5625\ngm_map                \tall\t0.0440\njudged_5              \tall\t0.2667\nnum_ret               \tall\t30\n"},
	} {
		var got bytes.Buffer
		if err := r.Write(&got, c.format, c.perQuery); err != nil || got.String() != c.want {
			t.Errorf("%s, each query %v: got\n%s%v, want\n%s", c.format, c.perQuery, got.String(), err, c.want)
		}
	}
	var csv bytes.Buffer
	if err := r.Write(&csv, "csv", true); err != nil || !strings.HasPrefix(csv.String(), "query,measure,value\nq1,map,0.5\nq1,judged_5,0.2\n") ||
		!strings.Contains(csv.String(), "q4,judged_5,\n") || !strings.Contains(csv.String(), "all,map,0.5625\n") {
		t.Errorf("csv is %v\n%s", err, csv.String())
	}
	var buf bytes.Buffer
	if err := r.Write(&buf, "json", true); err != nil {
		t.Fatal(err)
	}
	var object jsonReport
	if err := json.Unmarshal(buf.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	q4 := object.Queries[3]
	if object.Judged != 4 || object.Missing != 1 || *object.Measures["map"] != 0.5625 || !q4.Missing || *q4.Measures["map"] != 0 || q4.Measures["judged_5"] != nil {
		t.Errorf("json is\n%s", buf.String())
	}
	if err := r.Write(io.Discard, "xml", false); err == nil || !strings.Contains(err.Error(), "markdown, trec") {
		t.Errorf("got %v", err)
	}
}
