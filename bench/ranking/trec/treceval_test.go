package trec

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"frontier/bench/ranking"
	"frontier/datasets"
	"frontier/internal/testdata"
)

// measures parses names, which are separated by commas.
func measures(t testing.TB, names string) []ranking.Measure {
	t.Helper()
	all, err := ranking.ParseMeasures(strings.Split(names, ","))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ours are all measures that trec_eval has too, in its order.
const ours = "official,recall,ndcg,ndcg_cut,map_cut,success"

// evaluateFiles evaluates trec_eval's own test run as trec_eval does.
func evaluateFiles(t *testing.T, qrelsFile string, names string, relevanceMin int) *Report {
	t.Helper()
	f, err := os.Open(testdata.Path(t, qrelsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	qrels, err := datasets.ReadQrels(qrelsFile, f, datasets.QrelsAuto)
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.Open(testdata.Path(t, "trec_eval/results.test"))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	report, err := Evaluate(context.Background(), qrels, "results.test", run, Options{
		Measures: measures(t, names), RelevanceMin: relevanceMin, RunQueriesOnly: true, Workers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestEqualsTrecEval compares with trec_eval's expected output, byte by byte: the default output whole, and the others
// in the lines of the measures that both have.
func TestEqualsTrecEval(t *testing.T) {
	shared := regexp.MustCompile(`(?m)^(runid|num_q|num_ret|num_rel|num_rel_ret|map|gm_map|Rprec|bpref|recip_rank|iprec_at_recall_\d\.\d\d|P_\d+|recall_\d+|ndcg|ndcg_cut_\d+|map_cut_\d+|success_\d+) .*\n`)
	for _, c := range []struct {
		file     string
		names    string
		perQuery bool
		lines    int
	}{
		{"out.test", "official", false, 30},
		{"out.test.a", ours, false, 61},
		{"out.test.aq", ours, true, 235},
	} {
		t.Run(c.file, func(t *testing.T) {
			expected, err := os.ReadFile(testdata.Path(t, "trec_eval/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			want := expected
			if c.names != "official" {
				want = bytes.Join(shared.FindAll(expected, -1), nil)
			}
			if n := bytes.Count(want, []byte("\n")); n != c.lines {
				t.Fatalf("%d lines to compare with, want %d", n, c.lines)
			}
			var got bytes.Buffer
			if err := evaluateFiles(t, "trec_eval/qrels.test", c.names, 1).Write(&got, "trec", c.perQuery); err != nil {
				t.Fatal(err)
			}
			compareLines(t, got.String(), string(want))
		})
	}
}

func compareLines(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("line %d is %q, trec_eval has %q", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%d lines, trec_eval has %d", len(g), len(w))
	}
}
