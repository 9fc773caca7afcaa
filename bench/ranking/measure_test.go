package ranking

import (
	"slices"
	"strings"
	"testing"
)

func names(measures []Measure) string {
	var all []string
	for _, m := range measures {
		all = append(all, m.Name())
	}
	return strings.Join(all, " ")
}

func TestParseMeasures(t *testing.T) {
	for given, want := range map[string]string{
		"map,ndcg_cut_10":           "map ndcg_cut_10",
		"ndcg,ndcg_cut.7":           "ndcg ndcg_cut_7",
		"P.5,10,map":                "P_5 P_10 map",
		"iprec_at_recall.0.25,.5":   "iprec_at_recall_0.25 iprec_at_recall_0.50",
		"success":                   "success_1 success_5 success_10",
		"recip_rank,recip_rank":     "recip_rank",
		"recip_rank_cut_10":         "recip_rank_cut_10",
		" recall_3, recall_3":       "recall_3",
		"map_cut_5,num_rel_ret":     "map_cut_5 num_rel_ret",
		"iprec_at_recall":           "iprec_at_recall_0.00 iprec_at_recall_0.10 iprec_at_recall_0.20 iprec_at_recall_0.30 iprec_at_recall_0.40 iprec_at_recall_0.50 iprec_at_recall_0.60 iprec_at_recall_0.70 iprec_at_recall_0.80 iprec_at_recall_0.90 iprec_at_recall_1.00",
		"num_rel,num_rel_ret,runid": "num_rel num_rel_ret runid",
	} {
		got, err := ParseMeasures(strings.Split(given, ","))
		if err != nil || names(got) != want {
			t.Errorf("%q: got %q, %v; want %q", given, names(got), err, want)
		}
		if again, err := ParseMeasures(strings.Fields(names(got))); err != nil || !slices.Equal(again, got) {
			t.Errorf("%q: its names parse to %q, %v", given, names(again), err)
		}
	}
	for given, want := range map[string]string{
		"":                    "no measure",
		"mapp":                "there are runid,",
		"map_10":              "it is called map_cut_10",
		"bpref_5":             "bpref has no cut-off",
		"P_0":                 "at least 1",
		"P_x":                 "at least 1",
		"ndcg_cut_":           "at least 1",
		"iprec_at_recall_1.5": "from 0 to 1",
		"iprec_at_recall_NaN": "from 0 to 1",
		"10":                  "no measure \"10\"",
		"official,10":         "no measure \"10\"",
	} {
		if got, err := ParseMeasures(strings.Split(given, ",")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v; want an error with %q", given, names(got), err, want)
		}
	}
	if got, err := ParseMeasures(nil); err == nil {
		t.Errorf("no names give %q", names(got))
	}
}

func TestSortAsTrecEval(t *testing.T) {
	all, err := ParseMeasures(strings.Split("judged_10,success_1,ndcg_cut_10,ndcg_cut_5,P_100,P_20,map,num_q", ","))
	if err != nil {
		t.Fatal(err)
	}
	SortAsTrecEval(all)
	if got, want := names(all), "num_q map P_20 P_100 ndcg_cut_5 ndcg_cut_10 success_1 judged_10"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A name is cut at the longest family, or its members could not be told apart.
func TestMeasureHelpNamesAllFamilies(t *testing.T) {
	if lines := MeasureHelp(); len(lines) != len(families) {
		t.Fatalf("%d lines for %d families", len(lines), len(families))
	}
	for i, f := range families {
		m, err := ParseMeasures([]string{f.name})
		if err != nil || m[0].family != i {
			t.Errorf("%s parses to %v, %v", f.name, m, err)
		}
		if !strings.HasPrefix(MeasureHelp()[i], f.name) {
			t.Errorf("the help of %s is %q", f.name, MeasureHelp()[i])
		}
	}
}
