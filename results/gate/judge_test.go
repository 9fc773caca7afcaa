package gate

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"frontier/bench/stats"
	"frontier/results"
	"frontier/results/ab"
	"frontier/results/compare"
)

const wide = `
rules:
  - {metric: recall_at_10, max_drop: 0.01}
  - {metric: ndcg_at_10, max_drop: 2%}
  - {metric: ann_recall_at_10, max_drop: 0.01, where: 'engine != "bleve"'}
  - {metric: hit_rate_at_10, min: 0.4}
  - {metric: latency_p99_seconds, max_rise: 10%}
  - {metric: qps, max_drop: 10%}
  - {metric: index_bytes, max_rise: 2%}
  - {metric: queries_failed, max: 0}
`

// Equal runs pass, every rule at every point, also where latencies differ by what their intervals allow.
func TestEqualRunsPass(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	for i, p := range next.points {
		p.slower([]float64{1.02, 0.98, 1.01, 1}[i])
	}
	r := judged(t, wide, base, next)
	if r.Verdict != Pass || len(found(r, Fail, Warn)) != 0 {
		t.Errorf("verdict %s, %v", r.Verdict, found(r, Fail, Warn))
	}
	if want := 7*4 + 3; len(r.Decisions) != want || r.Matched() != 4 {
		t.Errorf("%d decisions at %d points, want %d at 4", len(r.Decisions), r.Matched(), want)
	}
}

// What got worse fails, named by exactly its rules and point, and nothing else does.
func TestExactlyWhatGotWorseFails(t *testing.T) {
	label := map[string]string{
		"flat": "engine=flat index_kind=flat index_spec=Flat", "bleve": "engine=bleve index_kind=bm25 index_spec=en",
		"hnsw64": "engine=hnswlib index_kind=hnsw index_spec=HNSW16 m=16 ef_search=64",
	}
	for name, c := range map[string]struct {
		worsen func(s *sample)
		want   []string
	}{
		"30 questions lost": {
			func(s *sample) { s.point("hnsw64").lose(30) },
			[]string{"recall_at_10 max_drop @ " + label["hnsw64"] + ": regression", "ndcg_at_10 max_drop @ " + label["hnsw64"] + ": regression"},
		},
		"twice as slow": {
			func(s *sample) { s.point("bleve").slower(2) },
			[]string{"latency_p99_seconds max_rise @ " + label["bleve"] + ": regression", "qps max_drop @ " + label["bleve"] + ": regression"},
		},
		"a larger index": {
			func(s *sample) { s.point("flat").row["index_bytes"] = int64(1<<20 + 1<<16) },
			[]string{"index_bytes max_rise @ " + label["flat"] + ": regression"},
		},
		"failed questions": {
			func(s *sample) { s.point("flat").row["queries_failed"] = int64(1) },
			[]string{"queries_failed max @ " + label["flat"] + ": broken"},
		},
		"less than half found": {
			func(s *sample) { s.point("bleve").lose(90) },
			[]string{
				"recall_at_10 max_drop @ " + label["bleve"] + ": regression", "ndcg_at_10 max_drop @ " + label["bleve"] + ": regression",
				"hit_rate_at_10 min @ " + label["bleve"] + ": broken",
			},
		},
	} {
		base, next := newSample("base"), newSample("next")
		c.worsen(next)
		r := judged(t, wide, base, next)
		if got := found(r, Fail); !reflect.DeepEqual(got, c.want) || r.Verdict != Fail {
			t.Errorf("%s: verdict %s, failed %q, want %q", name, r.Verdict, got, c.want)
		}
		if doubts := found(r, Warn); len(doubts) != 0 {
			t.Errorf("%s: doubts %q", name, doubts)
		}
	}
}

// A few lost questions are neither shown to be within the margin nor beyond it.
func TestFewLostQuestionsAreInconclusive(t *testing.T) {
	for action, verdict := range map[string]Action{"warn": Warn, "fail": Fail, "pass": Pass} {
		base, next := newSample("base"), newSample("next")
		next.point("flat").lose(3)
		r := judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01, on_inconclusive: "+action+"}]", base, next)
		d := r.Decisions[0]
		if d.Outcome != Inconclusive || d.Verdict != verdict || r.Verdict != verdict {
			t.Errorf("%s: %s, %s; the gate says %s", action, d.Outcome, d.Verdict, r.Verdict)
		}
		if len(d.Lost) != 3 || len(d.Won) != 0 || math.Abs(d.Change+3.0/185) > 1e-12 || !(d.Low < -0.01 && d.High > -0.01) {
			t.Errorf("%+v", d)
		}
	}
}

// A point that vanished, and one that failed, are missing under every rule that is for them, with the reason.
func TestMissingPoints(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	next.dropped["flat"] = true
	failed := next.point("bleve")
	failed.row["status"], failed.row["error"] = "crashed", "signal 11; see frontier engines"
	r := judged(t, wide, base, next)
	missing := map[string]string{}
	for _, d := range r.Decisions {
		if d.Outcome == Missing {
			missing[d.Point+" "+d.Rule.String()] = d.Why
			if d.Verdict != Fail {
				t.Errorf("%s passes without its point", d.Rule)
			}
		}
	}
	if len(missing) != 8+7 {
		t.Errorf("%d decisions miss their point: %v", len(missing), missing)
	}
	if got := r.vanishedPoints(); len(got) != 2 || got[0].rules != 8 || !strings.Contains(got[1].why, "crashed") || !strings.Contains(got[1].why, "signal 11") {
		t.Errorf("vanished: %+v", got)
	}
	for text, verdict := range map[string]Action{"on_missing: warn\n": Warn, "on_missing: pass\n": Pass} {
		if r := judged(t, text+wide[1:], base, next); r.Verdict != verdict {
			t.Errorf("%s: the gate says %s", text, r.Verdict)
		}
	}
	// The other way round, the points are new.
	r = judged(t, wide, next, base)
	if len(r.OnlyNew()) != 1 || r.Verdict != Pass {
		t.Errorf("new points: %v, %s, %v", r.OnlyNew(), r.Verdict, found(r, Fail))
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "only in NEW") || !strings.Contains(strings.Join(r.Warnings, "\n"), "failed in BASE") {
		t.Errorf("warnings %q", r.Warnings)
	}
	// Rules about NEW alone hold for new points too.
	r = judged(t, "rules: [{metric: hit_rate_at_10, min: 0.99}]", next, base)
	if n := len(found(r, Fail)); n != 4 {
		t.Errorf("%d of 4 points break the bound", n)
	}
}

func TestRuleForNoPoint(t *testing.T) {
	r := judged(t, `rules: [{metric: recall_at_10, max_drop: 0.01, where: 'engine == "faiss"'}]`, newSample("base"), newSample("next"))
	if r.Verdict != Fail || r.Decisions[0].Outcome != Missing || r.Decisions[0].Point != "" {
		t.Errorf("%s, %+v", r.Verdict, r.Decisions)
	}
}

// A metric that had nothing to divide by is missing data and not a pass.
func TestNullMetrics(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	r := judged(t, "rules: [{metric: ann_recall_at_10, max_drop: 0.01}]", base, next)
	if got := found(r, Fail); len(got) != 1 || !strings.HasSuffix(got[0], "null") || r.Verdict != Fail {
		t.Errorf("of a lexical engine: %v", got)
	}
	for _, v := range next.point("flat").values {
		delete(v, "recall_at_10")
	}
	r = judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01}, {metric: recall_at_10, min: 0.1}]", base, next)
	if got := found(r, Fail); len(got) != 2 || !strings.HasSuffix(got[0], "null") || !strings.HasSuffix(got[1], "null") {
		t.Errorf("without judgements: %v", got)
	}
	if r := judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01, on_null: warn}]", base, next); r.Verdict != Warn {
		t.Errorf("on_null: warn gives %s", r.Verdict)
	}
}

// A share of nothing that stays nothing did not change; one that appears is no percentage of anything.
func TestPercentageOfNothing(t *testing.T) {
	const rule = "rules: [{metric: loss_ann, max_rise: 10%, where: 'engine == \"flat\"'}]"
	for value, want := range map[float64]Outcome{0: Unchanged, 0.1: Inconclusive} {
		base, next := newSample("base"), newSample("next")
		for q := range base.cases {
			base.point("flat").values[q]["loss_ann"], next.point("flat").values[q]["loss_ann"] = 0, value
		}
		if d := judged(t, rule, base, next).Decisions[0]; d.Outcome != want {
			t.Errorf("0 to %g: %s, want %s (%s)", value, d.Outcome, want, d.Why)
		}
	}
}

// 18 questions cannot show 0.90 at 99%: with 12 to 18 hits both are possible. The gate says so beforehand.
func TestRulesThatCannotDecide(t *testing.T) {
	const rule = "rules: [{metric: recall_at_10, slice: {scenario: exact_entity}, min: 0.90}]"
	for hits := range 19 {
		s := newSample("next")
		for q := range 18 {
			for _, p := range s.points {
				p.values[q]["recall_at_10"] = 0
				if q < hits {
					p.values[q]["recall_at_10"] = 1
				}
			}
		}
		r := judged(t, rule, s, s)
		d := r.Decisions[0]
		want := Broken
		if hits >= 12 {
			want = Inconclusive
		}
		if d.Outcome != want || d.Cases != 18 {
			t.Errorf("%d hits of %d: %s, want %s (%g to %g, p %g)", hits, d.Cases, d.Outcome, want, d.Low, d.High, d.P)
		}
		limits := strings.Join(r.Limits(&r.Policy.Rules[0]), "\n")
		if !strings.Contains(limits, "can never pass with 18 questions at 99%: 12 to 18 hits of 18 are all inconclusive; 51 questions could") {
			t.Errorf("limits: %q", limits)
		}
	}
	for text, want := range map[string]string{
		"{metric: recall_at_10, slice: {difficulty: hard}, max_drop: 0.01}":    "it can never fail: even if all 5 questions got the worst value",
		"{metric: recall_at_10, slice: {difficulty: hard}, require_rise: 0.1}": "it can never pass: even if all 5 questions got the best value",
		"{metric: recall_at_10, slice: {difficulty: hard}, min: 0.6}":          "it can neither pass nor fail with 5 questions at 99%: 0 to 5 hits of 5 are all inconclusive; 11 questions could",
		"{metric: recall_at_10, slice: {difficulty: hard}, min: 0.01}":         "it can never fail with 5 questions at 99%: 0 to 1 hits of 5 are all inconclusive; 528 questions could",
		"{metric: recall_at_10, max_drop: 0.01}":                               "",
		"{metric: recall_at_10, min: 0.5}":                                     "",
	} {
		p := parse(t, "rules: ["+text+"]")
		side := newSample("next").side()
		for i := range side.Cases[:5] {
			side.Cases[i].Fields["difficulty"] = "hard"
		}
		r, err := judgeSides(p, side, side)
		if err != nil {
			t.Fatal(err)
		}
		limits := strings.Join(r.Limits(&r.Policy.Rules[0]), "\n")
		if want == "" && limits != "" || !strings.Contains(limits, want) {
			t.Errorf("%s: limits %q, want %q", text, limits, want)
		}
		if limits != "" && !strings.Contains(strings.Join(r.Warnings, "\n"), limits) {
			t.Errorf("%s: the warnings do not say so: %q", text, r.Warnings)
		}
	}
}

// Counts decide where intervals cannot.
func TestMaxCount(t *testing.T) {
	s := newSample("next")
	misses := 0
	for _, v := range s.point("flat").values[:18] {
		if v["recall_at_10"] == 0 {
			misses++
		}
	}
	if misses == 0 {
		t.Fatal("the sample has no misses in the slice")
	}
	for allowed, want := range map[int]Outcome{misses - 1: Broken, misses: Kept, misses + 1: Kept} {
		r := judged(t, "rules: [{metric: recall_at_10, slice: {scenario: exact_entity}, where: 'engine == \"flat\"', max_count: "+string(rune('0'+allowed))+"}]", s, s)
		if d := r.Decisions[0]; len(r.Decisions) != 1 || d.Outcome != want || d.New != float64(misses) {
			t.Errorf("%d misses, %d allowed: %+v", misses, allowed, d)
		}
	}
}

func TestRequiredRise(t *testing.T) {
	const rule = "rules: [{metric: recall_at_10, where: 'engine == \"flat\"', require_rise: 0.05}]"
	for wins, want := range map[int]struct {
		outcome Outcome
		verdict Action
	}{0: {Unchanged, Fail}, 12: {Inconclusive, Fail}, 30: {Improvement, Pass}} {
		base, next := newSample("base"), newSample("next")
		next.point("flat").win(wins)
		r := judged(t, rule, base, next)
		if d := r.Decisions[0]; d.Outcome != want.outcome || d.Verdict != want.verdict {
			t.Errorf("%d questions more: %+v", wins, d)
		}
	}
	base, next := newSample("base"), newSample("next")
	next.point("flat").win(12)
	r := judged(t, strings.Replace(rule, "require_rise", "on_inconclusive: warn, require_rise", 1), base, next)
	if r.Verdict != Warn {
		t.Errorf("a doubtful rise with on_inconclusive: warn gives %s", r.Verdict)
	}
	next.point("flat").slower(0.5)
	r = judged(t, "rules: [{metric: latency_p99_seconds, where: 'engine == \"flat\"', require_drop: 20%}]", base, next)
	if r.Verdict != Pass || r.Decisions[0].Outcome != Improvement {
		t.Errorf("half the latency: %+v", r.Decisions[0])
	}
}

// Times of another machine decide nothing, quality does.
func TestOtherMachine(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	for _, p := range next.points {
		p.row["machine_digest"] = "m2"
		p.slower(3)
	}
	r := judged(t, wide, base, next)
	for _, d := range r.Decisions {
		bound := d.Rule.Metric.Name == "latency_p99_seconds" || d.Rule.Metric.Name == "qps"
		if bound != (d.Outcome == Inconclusive) {
			t.Errorf("%s at %s: %s", d.Rule, d.Point, d.Outcome)
		}
	}
	if r.Verdict != Warn {
		t.Errorf("the gate says %s", r.Verdict)
	}
	if r := judged(t, "allow_other_machine: true"+wide, base, next); r.Verdict != Fail {
		t.Errorf("where it is allowed, the gate says %s", r.Verdict)
	}
}

// Quality is not compared on other data or other judgements unless that is allowed; then by the questions of both.
func TestOtherData(t *testing.T) {
	for column, v := range map[string]any{"dataset_digest": "d2", "relevance_min": int64(2), "unit": "chunk"} {
		base, next := newSample("base"), newSample("next")
		for _, p := range next.points {
			p.row[column] = v
		}
		next.cases[0].id = "another"
		_, err := tryJudge(t, wide, base, next)
		var fault *Error
		if !errors.As(err, &fault) || fault.Line != 3 || !strings.Contains(err.Error(), column) || !strings.Contains(err.Error(), "allow_other_data") {
			t.Errorf("%s: %v", column, err)
		}
		r, err := tryJudge(t, "allow_other_data: true"+wide, base, next)
		if err != nil {
			t.Fatal(err)
		}
		if r.Decisions[0].Cases != 184 || r.Decisions[0].Unpaired != 2 || r.Verdict != Pass {
			t.Errorf("%s: %d questions paired, %d not; %s", column, r.Decisions[0].Cases, r.Decisions[0].Unpaired, r.Verdict)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "2 questions have a value on one side only") {
			t.Errorf("%s: warnings %q", column, r.Warnings)
		}
		// So are evidence, spans, context, losses and filters.
		for _, p := range append(base.points, next.points...) {
			p.row["filter_false_exclusion_rate"] = 0.1
			for _, v := range p.values {
				v["evidence_recall"] = 1
			}
		}
		for _, rule := range []string{"{metric: evidence_recall, max_drop: 0.01}", "{metric: filter_false_exclusion_rate, max_rise: 0.01}"} {
			if _, err := tryJudge(t, "rules: ["+rule+"]", base, next); !errors.As(err, &fault) || !strings.Contains(err.Error(), column) {
				t.Errorf("%s, %s: %v", column, rule, err)
			}
		}
		// Rules that do not depend on data are judged.
		if _, err := tryJudge(t, "rules: [{metric: index_bytes, max_rise: 2%}]", base, next); err != nil {
			t.Errorf("%s: %v", column, err)
		}
	}
}

func TestAmbiguousMatch(t *testing.T) {
	_, err := tryJudge(t, "match: [engine, chunker]\nrules: [{metric: recall_at_10, max_drop: 0.01}]", newSample("base"), newSample("next"))
	var fault *compare.AmbiguousError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "ef_search (16, 64)") || !strings.Contains(err.Error(), "2 points") {
		t.Errorf("error %v", err)
	}
}

// A parameter that match does not name may change: the points stay the same, and the change is told.
func TestChangedParameterIsResidue(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	for _, s := range []*sample{base, next} {
		s.dropped["hnsw16"] = true
	}
	next.point("hnsw64").row["ef_search"] = int64(32)
	next.point("hnsw64").lose(30)
	r := judged(t, "match: [engine, index_spec, chunker, chunk_size]\nrules: [{metric: recall_at_10, max_drop: 0.01}]", base, next)
	if got := found(r, Fail); !reflect.DeepEqual(got, []string{"recall_at_10 max_drop @ engine=hnswlib index_spec=HNSW16: regression"}) {
		t.Errorf("failed: %q", got)
	}
	if len(r.Residue) != 1 || r.Residue[0].String() != "ef_search: 64 -> 32" || r.Residue[0].Kind != compare.Parameter {
		t.Errorf("residue %+v", r.Residue)
	}
	// By default it is another point.
	r = judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01}]", base, next)
	if got := found(r, Fail); len(got) != 1 || !strings.HasSuffix(got[0], "missing") {
		t.Errorf("failed: %q", got)
	}
	// Where all changed, the warning says what to leave out of match.
	base.dropped["flat"], base.dropped["bleve"], next.dropped["flat"], next.dropped["bleve"] = true, true, true, true
	r = judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01}]", base, next)
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "leave out of match what was changed on purpose: ef_search (64 against 32)") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// What was tuned on must not be judged on.
func TestDevSplit(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	for _, s := range []*sample{base, next} {
		for i := range s.cases {
			s.cases[i].split = []string{"dev", "release"}[i%2]
		}
	}
	for _, rule := range []string{"{metric: recall_at_10, max_drop: 0.01}", "{metric: recall_at_10, min: 0.1}", "{metric: recall_at_10, slice: {split: dev}, max_drop: 0.01}"} {
		if _, err := tryJudge(t, "rules: ["+rule+"]", base, next); err == nil || !strings.Contains(err.Error(), "split dev") {
			t.Errorf("%s: %v", rule, err)
		}
	}
	r := judged(t, "rules: [{metric: recall_at_10, slice: {split: release}, max_drop: 0.01}, {metric: index_bytes, max_rise: 1%}]", base, next)
	if r.Verdict != Pass || r.Decisions[0].Cases != 92 {
		t.Errorf("%s, %d questions", r.Verdict, r.Decisions[0].Cases)
	}
}

func TestUnknownSlice(t *testing.T) {
	for slice, want := range map[string]string{
		"{scenario: typo}": "the values are exact_entity, paraphrase",
		"{locale: de}":     "the fields are answerability, scenario",
	} {
		_, err := tryJudge(t, "rules: [{metric: recall_at_10, slice: "+slice+", max_drop: 0.01}]", newSample("base"), newSample("next"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "gate.yaml:1:9: ") {
			t.Errorf("%s: %v", slice, err)
		}
	}
}

// Values without an interval do not fail a gate by themselves, as nothing is known of how they vary.
func TestSingleValues(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	next.point("flat").row["memory_serving_bytes"] = int64(6 << 20)
	for action, verdict := range map[string]Action{"": Warn, ", on_inconclusive: fail": Fail} {
		r := judged(t, "rules: [{metric: memory_serving_bytes, max_rise: 1MiB"+action+"}, {metric: memory_serving_bytes, max: 1GiB}]", base, next)
		if got := found(r, Fail, Warn); r.Verdict != verdict || len(got) != 1 {
			t.Errorf("%q: %s, %v", action, r.Verdict, got)
		}
	}
}

// abResult is what ab would write of pairs of blocks of the sample's points.
func abResult(t *testing.T, factor float64) *ab.Result {
	t.Helper()
	noise := []float64{1.01, 0.99, 1.02, 1, 0.98, 1.01, 1, 0.99, 1.02, 0.98, 1.01, 1}
	var base, next []float64
	for i, n := range noise {
		drift := 0.001 * (1 + 0.02*float64(i)) // of the machine, on both alike
		base, next = append(base, drift), append(next, drift*n*factor)
	}
	c, err := stats.Compare(base, next, stats.CompareOptions{Confidence: 0.99, Relative: true, LowerIsBetter: true})
	if err != nil {
		t.Fatal(err)
	}
	low := -0.01
	r := &ab.Result{Version: ab.Version, Machine: "m9", Confidence: 0.99, Match: []string{"engine", "ef_search"}, Base: ab.Side{File: "base.yaml"}, New: ab.Side{File: "new.yaml"}}
	for _, key := range []map[string]any{{"engine": "flat"}, {"engine": "hnswlib", "ef_search": 64.0}} {
		r.Points = append(r.Points, ab.Point{Base: "b", New: "n", Key: key, Pairs: 12, Changed: map[string][2]any{}, Metrics: []ab.Metric{
			{Name: "latency_p99_seconds", Base: 0.001, New: 0.001 * factor, Relative: true, Change: c.Estimate, Low: &c.Low, High: &c.High, P: &c.P, Decision: stats.Same},
			{Name: "recall_at_10", Base: 0.8, New: 0.79, Change: -0.01, Low: &low, High: &low, P: &c.P, Decision: stats.Same},
			{Name: "index_bytes", Base: 100, New: 103, Relative: true, Change: 0.03, Decision: stats.Same},
		}})
	}
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	read, err := ab.ReadJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// The pairs of frontier ab decide where two runs cannot: 15% slower is found at its point, equal variants pass.
func TestPairsOfBlocks(t *testing.T) {
	p := parse(t, "match: [engine, index_spec, ef_search]\nrules: [{metric: latency_p99_seconds, max_rise: 5%}]")
	for factor, want := range map[float64]Outcome{1: Unchanged, 1.15: Regression, 0.8: Improvement, 1.05: Inconclusive} {
		next := newSample("next")
		for _, point := range next.points {
			point.row["machine_digest"] = "another" // which does not matter to ab
		}
		m, err := compare.Match(newSample("base").side(), next.side(), p.Match)
		if err != nil {
			t.Fatal(err)
		}
		result := abResult(t, factor)
		result.Points = append(result.Points, ab.Point{Key: map[string]any{"engine": "hnswlib"}}, ab.Point{Key: map[string]any{"engine": "flat"}, Error: "it crashed"})
		if w := m.AttachAB(result); len(w) != 2 || !strings.Contains(w[0], "is 2 points") || !strings.Contains(w[1], "it crashed") {
			t.Errorf("warnings %q", w)
		}
		r, err := Judge(p, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Decisions {
			switch {
			case strings.Contains(d.Point, "flat"), strings.Contains(d.Point, "ef_search=64"):
				if d.Outcome != want || d.Method != compare.ByBlock || d.Cases != 12 {
					t.Errorf("factor %g: %+v", factor, d)
				}
			case d.Outcome != Inconclusive || d.Method != compare.ByInterval:
				t.Errorf("without ab: %+v", d)
			}
		}
	}
}

// A result of ab is judged by itself too.
func TestABAlone(t *testing.T) {
	m := compare.MatchAB("ab.json", abResult(t, 1.15))
	r, err := Judge(parse(t, "rules: [{metric: latency_p99_seconds, max_rise: 100us}, {metric: index_bytes, max_rise: 2%}, {metric: recall_at_10, max_drop: 5%}, {metric: latency_p99_seconds, max: 2ms, on_inconclusive: fail}]"), m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"latency_p99_seconds max_rise @ engine=flat: regression", "latency_p99_seconds max_rise @ ef_search=64 engine=hnswlib: regression",
		"index_bytes max_rise @ engine=flat: regression", "index_bytes max_rise @ ef_search=64 engine=hnswlib: regression",
	}
	if got := found(r, Fail, Warn); !reflect.DeepEqual(got, want) {
		t.Errorf("failed %q", got)
	}
	if _, err := Judge(parse(t, "confidence: 0.999\nrules: [{metric: latency_p99_seconds, max_rise: 5%}]"), m); err == nil || !strings.Contains(err.Error(), "--confidence 0.999") {
		t.Errorf("a policy that asks for more: %v", err)
	}
	if _, err := Judge(parse(t, "rules: [{metric: recall_at_10, slice: {scenario: typo}, max_drop: 1%}]"), m); err == nil || !strings.Contains(err.Error(), "queries/") {
		t.Errorf("a slice: %v", err)
	}
}

// Of many decisions one that is barely sure is taken back, and a clear one stands.
func TestHolmOverAllDecisions(t *testing.T) {
	base, next := newSample("base"), newSample("next")
	const clones = 30
	for i := range clones {
		row := results.Row{"engine": "hnswlib", "index_spec": "HNSW16", "ef_search": int64(1000 + i)}
		for _, s := range []*sample{base, next} {
			s.add("clone"+string(rune('A'+i)), row, 0.78, 0.001)
		}
	}
	next.point("flat").lose(14)
	next.point("hnsw64").lose(60)
	// Clones win and lose two questions each, so that they count as decisions.
	for _, p := range next.points[4:] {
		p.lose(2)
		p.win(2)
	}
	one := judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01, where: 'engine == \"flat\"'}]", base, next)
	if one.Verdict != Fail {
		t.Fatalf("alone, 14 lost questions are %+v", one.Decisions[0])
	}
	all := judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01}]", base, next)
	for _, d := range all.Decisions {
		switch {
		case strings.Contains(d.Point, "engine=flat"):
			if d.Outcome != Inconclusive || !strings.Contains(d.Why, "Holm") || !(d.PHolm > d.P) {
				t.Errorf("among %d decisions, 14 lost questions are %+v", len(all.Decisions), d)
			}
		case strings.Contains(d.Point, "ef_search=64"):
			if d.Outcome != Regression {
				t.Errorf("60 lost questions are %+v", d)
			}
		}
	}
}

// Gates over runs that differ by chance alone fail no more often than the confidence says, over all their rules and points.
func TestGatesOverEqualRunsHoldTheirConfidence(t *testing.T) {
	p := parse(t, "confidence: 0.9\nrules: [{metric: recall_at_10, max_drop: 0}, {metric: ndcg_at_10, max_drop: 0}]")
	rng := rand.New(rand.NewPCG(21, 22))
	gates, failed := 40, 0
	if testing.Short() {
		gates = 10
	}
	for range gates {
		sides := map[string]*compare.Side{}
		for _, name := range []string{"base", "next"} {
			var rows []results.Row
			var queries []results.QueryRow
			for point := range 3 {
				id := string(rune('a' + point))
				rows = append(rows, results.Row{"run_id": name, "point_id": id, "status": "ok", "engine": id})
				for q := range 40 {
					hit := 0.0
					if rng.Float64() < float64(q%4+1)/5 { // questions differ in difficulty
						hit = 1
					}
					queries = append(queries, results.QueryRow{RunID: name, PointID: id, QueryID: string(rune('A' + q)), Metrics: map[string]float64{"recall_at_10": hit, "ndcg_at_10": hit * (0.5 + rng.Float64()/2)}})
				}
			}
			sides[name] = compare.New(name, rows, queries, nil)
		}
		r, err := judgeSides(p, sides["base"], sides["next"])
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == Fail {
			failed++
		}
	}
	t.Logf("%d of %d gates failed", failed, gates)
	if failed > gates/10+4 { // 10% and two standard errors
		t.Errorf("%d of %d gates over equal runs failed, at a confidence of 0.9", failed, gates)
	}
}
