package spans

import "testing"

func TestFacts(t *testing.T) {
	for name, c := range map[string]struct {
		fact  string
		texts []string
		found int
	}{
		"literal":                          {"kept for 400 days", []string{"Logs are kept for 400 days."}, 1},
		"case and white space":             {"  Kept   FOR 400\ndays ", []string{"kept\tfor 400  days"}, 1},
		"a no-break space and full width":  {"400 days", []string{"４００\u00a0days"}, 1},
		"a ligature":                       {"configuration file", []string{"con\ufb01guration \ufb01le"}, 1},
		"a composed letter":                {"caf\u00e9", []string{"CAFE\u0301"}, 1},
		"sharp s":                          {"STRASSE", []string{"straße"}, 1},
		"final sigma":                      {"ΛΟΓΟΣ", []string{"λόγος λογος"}, 1},
		"a longer number before":           {"400 days", []string{"1400 days"}, 0},
		"a longer number behind":           {"port 80", []string{"port 8080"}, 0},
		"a longer number and then the one": {"port 80", []string{"port 8080 or port 80"}, 1},
		"thousands before":                 {"400 days", []string{"1,400 days"}, 0},
		"a fraction before":                {"5 days", []string{"2.5 days"}, 0},
		"a fraction behind":                {"version 1", []string{"version 1.5"}, 0},
		"the end of a sentence":            {"port 80", []string{"It is port 80."}, 1},
		"a comma, and no number":           {"400 days", []string{"so,400 days, or 500"}, 1},
		"a list":                           {"443", []string{"80, 443, 8080"}, 1},
		"cut in two":                       {"400 days", []string{"kept for 400", "days"}, 0},
		"in the second chunk":              {"400 days", []string{"nothing", "400 days"}, 1},
		"twice":                            {"400 days", []string{"400 days", "400 days"}, 1},
		"Chinese":                          {"四百天", []string{"保留四百天。"}, 1},
		"absent":                           {"400 days", []string{"401 days"}, 0},
		"no context":                       {"400 days", nil, 0},
	} {
		f := NewFacts([]string{c.fact})
		if got := f.Found(c.texts); got != c.found || f.Len() != 1 {
			t.Errorf("%s: %d of %d found, want %d", name, got, f.Len(), c.found)
		}
	}
	f := NewFacts([]string{"a", " \n", "b", "c"})
	if f.Len() != 3 || f.Found([]string{"x C", "A"}) != 2 || f.Found([]string{"b"}) != 1 {
		t.Errorf("%d facts, %d and %d found", f.Len(), f.Found([]string{"x C", "A"}), f.Found([]string{"b"}))
	}
	if none := NewFacts(nil); none.Len() != 0 || none.Found([]string{"a"}) != 0 {
		t.Error("no facts are found")
	}
}
