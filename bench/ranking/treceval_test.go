package ranking

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"frontier/internal/testdata"
)

// fields are the non-empty lines of a file, split at white space.
func fields(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines [][]string
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		if line := strings.Fields(scanner.Text()); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func number[T int | float64](t *testing.T, s string) T {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return T(v)
}

var trecCuts = []int{1, 5, 10, 15, 20, 30, 100, 200, 500, 1000}

// trecMetrics evaluates trec_eval's own test run against its own judgements.
func trecMetrics(t *testing.T) map[string]Metrics {
	units, grades := map[string]map[string]int{}, map[string][]int{}
	for _, line := range fields(t, "trec_eval/qrels.test") {
		query, doc, grade := line[0], line[2], number[int](t, line[3])
		if units[query] == nil {
			units[query] = map[string]int{}
		}
		units[query][doc] = len(grades[query])
		grades[query] = append(grades[query], grade)
	}
	ids, scores := map[string][]string{}, map[string][]float64{}
	for _, line := range fields(t, "trec_eval/results.test") {
		query := line[0]
		ids[query] = append(ids[query], line[2])
		scores[query] = append(scores[query], number[float64](t, line[4]))
	}
	all := map[string]Metrics{}
	for query := range ids {
		var list []Item
		for _, i := range Order(ids[query], scores[query]) {
			item := Item{}
			if unit, judged := units[query][ids[query][i]]; judged {
				item = Item{Held: []int{unit}, Judged: true}
			}
			list = append(list, item)
		}
		m, err := Evaluate(grades[query], list, trecCuts, 1)
		if err != nil {
			t.Fatal(err)
		}
		all[query] = m
	}
	return all
}

// printed gives a query's figures trec_eval's names.
func printed(m Metrics) map[string]float64 {
	p := map[string]float64{
		"map": m.MAPFull, "recip_rank": m.MRRFull,
		"num_ret": float64(m.Retrieved), "num_rel": float64(m.Relevant), "num_rel_ret": float64(m.RelevantRetrieved),
	}
	for i, k := range trecCuts {
		for name, v := range map[string]float64{
			"recall": m.Recall[i], "success": m.HitRate[i], "P": m.Precision[i], "ndcg_cut": m.NDCG[i], "map_cut": m.MAP[i], "unj": 1 - m.Judged[i],
		} {
			p[fmt.Sprintf("%s_%d", name, k)] = v
		}
	}
	return p
}

// TestEqualsTrecEval compares with trec_eval's expected output: every measure that both have, in total and for each
// query, to all the digits that it prints.
func TestEqualsTrecEval(t *testing.T) {
	figures := map[string]map[string]float64{"all": {}}
	metrics := trecMetrics(t)
	for query, m := range metrics {
		figures[query] = printed(m)
		for name, v := range figures[query] {
			if !strings.HasPrefix(name, "num_") {
				v /= float64(len(metrics))
			}
			figures["all"][name] += v
		}
	}
	for file, want := range map[string]int{"out.test": 14, "out.test.a": 47, "out.test.aq": 4 * 47} {
		t.Run(file, func(t *testing.T) {
			compared := 0
			for _, line := range fields(t, "trec_eval/"+file) {
				if len(line) != 3 {
					continue
				}
				v, ours := figures[line[1]][line[0]]
				if !ours {
					continue
				}
				compared++
				got := fmt.Sprintf("%.4f", v)
				if strings.HasPrefix(line[0], "num_") {
					got = fmt.Sprintf("%.0f", v)
				}
				if got != line[2] {
					t.Errorf("%s of query %s: got %s, trec_eval has %s", line[0], line[1], got, line[2])
				}
			}
			if compared != want {
				t.Errorf("compared %d figures, want %d", compared, want)
			}
		})
	}
}
