package sweep

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontier/indexes"
	"frontier/indexes/engines"
	"frontier/internal/param"
	"frontier/results"
	"frontier/sweep/file"
)

// writeTenants makes the documents of the worked example of false exclusion, whose answers are published. Every question
// shares a word with every document, so that only filters keep documents out.
func (p *place) writeTenants() {
	corpus := ""
	for i, d := range [][2]string{{"acme", "en-US"}, {"acme", "en-GB"}, {"globex", "en-US"}, {"acme", "en-US"}, {"acme", "de-DE"}, {"acme", "fr-FR"}} {
		// Half of the fields stand beside the text and half in metadata.
		corpus += fmt.Sprintf("{\"_id\": \"d%d\", \"text\": \"handbook number%d\", \"tenant\": %q, \"metadata\": {\"locale\": %q}}\n", i+1, i+1, d[0], d[1])
	}
	golden := ""
	for i, q := range []struct{ gold, predicate string }{
		{"d2", `"locale": "en-US"`}, {"d4", `"tenant": "acme"`}, {"d6", `"locale": "en-US"`}, {"d5", `"locale": "de-DE"`},
	} {
		golden += fmt.Sprintf("{\"id\": \"q%d\", \"query\": \"handbook\", \"expected_document_ids\": [%q], \"filter\": {\"tenant\": \"acme\"}, %s}\n", i+1, q.gold, q.predicate)
	}
	p.write("corpus.jsonl", corpus)
	p.write("golden.jsonl", golden)
}

const tenantSweep = `version: 1
name: tenants
build_threads: 1
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
embedders: [{kind: hash, dim: 32}]
indexes:
  - {engine: flat}
  - {engine: bleve}
  - {engine: coder}
  - {engine: hybrid, of: [bleve, flat], fusion: [{rrf: 60}, {convex: 0.5}]}
filters: [{field: [locale, tenant], from: query, mode: [none, pre, post, boost], boost: 0.5}]
measure: {k: [1, 10], depth: 10, rounds: 1, min_time: 1ms, warmup: 1ms, max_time: 1ms}
`

// The worked example through all engines and modes: false exclusion 2 of 4, and recall@10 of the eligible gold 0.5 where the
// predicate is hard. An evaluator that rebuilds the gold after the filter would say 1.
func TestFalseExclusionOfTheWorkedExample(t *testing.T) {
	p := newPlace(t, tenantSweep)
	p.writeTenants()
	p.run()
	modes := map[string]int{}
	for _, row := range p.rows() {
		if row["status"] != "ok" {
			t.Fatalf("%v: %v", row["engine"], row["error"])
		}
		mode, _ := row["filter_mode"].(string)
		modes[fmt.Sprint(row["engine"], " ", mode)]++
		if row["filter_leaks"] != int64(0) || row["filter_eligible_queries"] != int64(4) {
			t.Errorf("%v %s: %v leaks, %v questions", row["engine"], mode, row["filter_leaks"], row["filter_eligible_queries"])
		}
		want := map[string]any{
			"filter": "locale,tenant", "filter_false_exclusion_rate": 0.5, "filter_predicate_recall": 0.5, "filter_predicate_precision": 0.2,
			"filter_selectivity": 0.5, "recall_at_10": 0.5, "loss_filter": 0.5, "loss_missing": 0.0,
		}
		switch mode {
		case "":
			want = map[string]any{"filter": nil, "filter_false_exclusion_rate": nil, "filter_selectivity": nil, "recall_at_10": 1.0, "loss_filter": 0.0}
		case "boost":
			want["recall_at_10"], want["loss_filter"], want["filter_boost"] = 1.0, 0.0, 0.5
		}
		for name, v := range want {
			if row[name] != v {
				t.Errorf("%v, mode %q: %s is %v, expected %v", row["engine"], mode, name, row[name], v)
			}
		}
		if recall, ok := row["ann_recall_at_10"].(float64); ok != (mode != "boost" && (row["engine"] == "flat" || row["engine"] == "coder")) || ok && row["engine"] == "flat" && recall != 1 {
			t.Errorf("%v, mode %q: ann_recall_at_10 is %v", row["engine"], mode, row["ann_recall_at_10"])
		}
	}
	want := map[string]int{
		"flat ": 1, "flat pre": 1, "flat post": 1, "flat boost": 1, "bleve ": 1, "bleve pre": 1, "bleve post": 1, "bleve boost": 1,
		"coder ": 1, "coder post": 2, "coder boost": 1, // it cannot filter while it searches
		"hybrid ": 2, "hybrid pre": 2, "hybrid post": 2, "hybrid boost": 2,
	}
	for name, n := range want {
		if modes[name] != n {
			t.Errorf("%d rows of %q, expected %d", modes[name], name, n)
		}
	}
	seen := map[string][]string{}
	for _, q := range p.queries() {
		seen[q.QueryID] = append(seen[q.QueryID], q.Documents...)
	}
	if slices.Contains(seen["q1"], "d3") || !slices.Contains(seen["q1"], "d1") {
		t.Errorf("q1 got %v", seen["q1"])
	}
}

// Predicates are tried one at a time, and pre and post find the same where the engine looks at everything.
func TestPreAndPostFindTheSame(t *testing.T) {
	p := newPlace(t, strings.NewReplacer("[locale, tenant]", "locale", "mode: [none, pre, post, boost], boost: 0.5}", "mode: [pre, post]}, {field: tenant, mode: pre}",
		"coder", "flat", "depth: 10", "depth: 1", "k: [1, 10]", "k: [1]").Replace(tenantSweep))
	p.yaml = strings.Replace(p.yaml, "  - {engine: flat}\n", "", 1)
	p.writeTenants()
	p.run()
	first := map[string]string{}
	points := map[string]results.Row{}
	for _, row := range p.rows() {
		points[row["point_id"].(string)] = row
	}
	for _, q := range p.queries() {
		row := points[q.PointID]
		key := fmt.Sprint(row["engine"], row["fusion"], row["filter"], q.QueryID)
		if row["filter"] == "locale" && q.QueryID == "q1" && (len(q.Documents) == 0 || !slices.Contains([]string{"d1", "d4"}, q.Documents[0])) {
			t.Errorf("%v %v: q1 got %v", row["engine"], row["filter_mode"], q.Documents)
		}
		got := fmt.Sprint(q.Documents[:min(1, len(q.Documents))])
		if other, ok := first[key]; ok && other != got {
			t.Errorf("%s: %v one way and %v the other", key, other, got)
		}
		first[key] = got
	}
}

// leaky is exact search that overlooks what rows are allowed.
func leakyEngine() indexes.Engine {
	leaky := *indexes.Find(engines.All(), "flat")
	leaky.Name = "leaky"
	inner := leaky.Load
	leaky.Load = func(ctx context.Context, dir string, in indexes.Input, params param.Values) (indexes.Index, error) {
		x, err := inner(ctx, dir, in, params)
		return leakyIndex{x}, err
	}
	return leaky
}

type leakyIndex struct{ indexes.Index }

func (x leakyIndex) SearchFiltered(q indexes.Query, k int, _ *indexes.IDSet, dst []indexes.Hit) ([]indexes.Hit, error) {
	return x.Search(q, k, dst)
}

func TestLeaksFailThePoint(t *testing.T) {
	for _, rule := range []string{"fail", "allow"} {
		t.Run(rule, func(t *testing.T) {
			p := newPlace(t, strings.Replace(tenantSweep, "measure: {", "measure: {leaks: "+rule+", ", 1))
			p.yaml = p.yaml[:strings.Index(p.yaml, "indexes:")] + "indexes: [{engine: leaky}]\n" + p.yaml[strings.Index(p.yaml, "measure:"):]
			p.writeTenants()
			s := p.run()
			row := p.rows()[0]
			if row["filter_leaks"] != int64(4) { // every question gets d3
				t.Errorf("%v leaks", row["filter_leaks"])
			}
			if rule == "allow" {
				if row["status"] != "ok" || s.Failed != 0 {
					t.Errorf("%v: %v", row["status"], row["error"])
				}
				return
			}
			text, _ := row["error"].(string)
			if row["status"] != "failed" || s.Failed != 1 || !strings.Contains(text, "4 of 24 results") || !strings.Contains(text, "question q1 got document d3") || !strings.Contains(text, "leaks: allow") {
				t.Errorf("%v, %d failed: %v", row["status"], s.Failed, text)
			}
		})
	}
}

// Gold that the caller may not see is no gold of that question, and a question of which none is left is no denominator.
func TestIneligibleGoldIsNoGold(t *testing.T) {
	p := newPlace(t, tenantSweep[:strings.Index(tenantSweep, "filters:")]+tenantSweep[strings.Index(tenantSweep, "measure:"):])
	p.writeTenants()
	p.write("golden.jsonl", `{"id": "a", "query": "handbook", "expected_document_ids": ["d1", "d3"], "filter": {"tenant": "acme"}}
{"id": "b", "query": "handbook", "expected_document_ids": ["d3"], "filter": {"tenant": "acme"}}
{"id": "c", "query": "handbook", "expected_document_ids": ["d3"]}
`)
	s := p.run()
	for _, row := range p.rows() {
		if row["queries_answerable"] != int64(2) || row["filter_eligible_queries"] != int64(2) || row["recall_at_10"] != 1.0 || row["filter_leaks"] != int64(0) {
			t.Errorf("%v: %v answerable, recall %v, %v leaks", row["engine"], row["queries_answerable"], row["recall_at_10"], row["filter_leaks"])
		}
		if warned := strings.Contains(fmt.Sprint(row["warnings"]), "enforced on its answers"); warned != (row["engine"] == "coder") {
			t.Errorf("%v warns %v", row["engine"], row["warnings"])
		}
	}
	if !slices.ContainsFunc(s.Warnings, func(w string) bool {
		return strings.Contains(w, "of 1 questions the caller may see none of the evidence")
	}) {
		t.Errorf("warnings are %q", s.Warnings)
	}
}

func TestFiltersThatCannotBe(t *testing.T) {
	for says, edit := range map[string]func(*place){
		"no document of corpus.jsonl has the field \"region\"": func(p *place) { p.yaml = strings.Replace(p.yaml, "[locale, tenant]", "region", 1) },
		"no question of ": func(p *place) {
			p.write("golden.jsonl", `{"id": "a", "query": "handbook", "expected_document_ids": ["d1"]}`+"\n")
		},
		"golden.jsonl:1: case \"a\" may see documents by \"team\"": func(p *place) {
			p.write("golden.jsonl", `{"id": "a", "query": "handbook", "expected_document_ids": ["d1"], "locale": "x", "tenant": "y", "filter": {"team": "red"}}`+"\n")
		},
	} {
		p := newPlace(t, tenantSweep)
		p.writeTenants()
		edit(p)
		if _, err := p.try(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, expected %q", err, says)
		}
	}
}

// The answers of another system are looked through for leaks as well, where the corpus says who may see what.
func TestTracesThatLeakFail(t *testing.T) {
	p := newPlace(t, "")
	p.writeTenants()
	p.write("traces.jsonl", `{"case_id": "q1", "config_id": "theirs", "retrieved": [{"document_id": "d3", "rank": 1}, {"document_id": "d2", "rank": 2}]}
{"case_id": "q2", "config_id": "theirs", "retrieved": [{"document_id": "d4", "rank": 1}]}
{"case_id": "q3", "config_id": "theirs", "retrieved": []}
{"case_id": "q4", "config_id": "theirs", "retrieved": [{"document_id": "d5", "rank": 1}]}
`)
	for corpus, want := range map[string]struct {
		leaks  any
		status string
	}{"corpus.jsonl": {int64(1), "failed"}, "": {nil, "ok"}} {
		options := TraceOptions{
			Traces: filepath.Join(p.dir, "traces.jsonl"), Golden: filepath.Join(p.dir, "golden.jsonl"), Out: filepath.Join(p.dir, "scored"+corpus),
			Measure: file.Measure{K: []int{10}, Unit: "document", Evidence: "overlap", RelevanceMin: 1},
		}
		if corpus != "" {
			options.Corpus = filepath.Join(p.dir, corpus)
		}
		sum, err := ScoreTraces(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := results.ReadRows(t.Context(), options.Out)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 || rows[0]["filter_leaks"] != want.leaks || rows[0]["status"] != want.status {
			t.Errorf("corpus %q: %v leaks, %v: %v", corpus, rows[0]["filter_leaks"], rows[0]["status"], rows[0]["error"])
		}
		if warned := strings.Contains(fmt.Sprint(sum.Warnings), "to have leaks counted"); warned != (corpus == "") {
			t.Errorf("corpus %q: warnings are %q", corpus, sum.Warnings)
		}
	}
}

// A predicate that finds the right one of two alike documents is worth a hard filter; one that excludes all gold is not.
func TestDecisionOnPredicates(t *testing.T) {
	p := newPlace(t, `version: 1
build_threads: 1
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
indexes: [{engine: bleve}]
filters: [{field: locale}, {field: kind, mode: [post, boost]}]
measure: {k: [1], depth: 5, rounds: 1, min_time: 1ms, warmup: 1ms, max_time: 1ms}
`)
	corpus, golden := "", ""
	for i := range 8 {
		for _, locale := range []string{"de", "en"} { // a tie goes to the smaller row, which is the wrong one
			corpus += fmt.Sprintf("{\"_id\": \"%s%d\", \"text\": \"topic%d\", \"locale\": %q, \"kind\": %q}\n", locale, i, i, locale, map[string]string{"de": "memo", "en": "note"}[locale])
		}
		golden += fmt.Sprintf("{\"id\": \"q%d\", \"query\": \"topic%d\", \"expected_document_ids\": [\"en%d\"], \"locale\": \"en\", \"kind\": \"memo\"}\n", i, i, i)
	}
	p.write("corpus.jsonl", corpus)
	p.write("golden.jsonl", golden)
	p.run()
	for _, row := range p.rows() {
		text := fmt.Sprint(row["warnings"])
		switch fmt.Sprint(row["filter"], " ", row["filter_mode"]) {
		case "locale pre":
			if row["filter_decision"] != "hard" || row["filter_gain_at_least"] != 1.0 {
				t.Errorf("locale: %v, gain %v, %s", row["filter_decision"], row["filter_gain_at_least"], text)
			}
		case "kind post":
			if row["filter_decision"] != "soft" || !strings.Contains(text, "kind should be a boost and no hard filter: the gain of precision may be as low as +0.000") || !strings.Contains(text, "8 of 8 queries") {
				t.Errorf("kind: %v, %s", row["filter_decision"], text)
			}
		default:
			if row["filter_decision"] != nil {
				t.Errorf("%v %v: %v", row["filter"], row["filter_mode"], row["filter_decision"])
			}
		}
	}
}

// A mode that is tried later is decided as well, by what was measured without the predicate before.
func TestFilterThatIsAddedLaterIsDecided(t *testing.T) {
	yaml := strings.Replace(tenantSweep[:strings.Index(tenantSweep, "indexes:")]+"indexes: [{engine: flat}]\n"+tenantSweep[strings.Index(tenantSweep, "filters:"):], "post, boost], boost: 0.5", "post]", 1)
	p := newPlace(t, strings.Replace(yaml, "[none, pre, post]", "[none, pre]", 1))
	p.writeTenants()
	p.run()
	p.yaml = yaml
	if s := p.run(); s.Reused != 2 || s.Measured != 1 || s.Points != 3 {
		t.Errorf("%+v", s)
	}
	for _, row := range p.rows() {
		// Four questions decide nothing, which is said.
		if said := strings.Contains(fmt.Sprint(row["warnings"]), "should be a hard filter cannot be said"); said != (row["filter_mode"] != nil) {
			t.Errorf("%v: %v", row["filter_mode"], row["warnings"])
		}
	}
	if s := p.run(); s.Measured != 0 || s.Reused != 3 {
		t.Errorf("again: %+v", s)
	}
}
