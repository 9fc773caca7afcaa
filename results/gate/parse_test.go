package gate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestParse(t *testing.T) {
	p := parse(t, `
match: [engine, chunker]
confidence: 0.95
on_missing: warn
on_null: pass
allow_other_machine: true
rules:
  - {metric: recall_at_10, max_drop: 0.01}
  - {metric: recall_at_10, slice: {scenario: typo, difficulty: 3}, min: 0.90, on_null: fail, on_inconclusive: pass}
  - {metric: latency_p99_seconds, max_rise: 2.5ms, where: engine == "flat"}
  - {metric: index_bytes, max: 1.5 MiB}
  - metric: qps
    require_rise: 10%
  - {metric: recall_at_10, require_rise: 0.1, on_inconclusive: warn}
`)
	r := p.Rules
	if p.Confidence != 0.95 || p.OnMissing != Warn || p.OnNull != Pass || p.OnInconclusive != Warn || !p.AllowOtherMachine || p.AllowOtherData || len(p.Match) != 2 || len(r) != 6 {
		t.Errorf("%+v", p)
	}
	if r[0].Bound != 0.01 || r[0].Share || r[0].OnMissing != Warn || r[0].Line != 8 || r[0].Column != 5 {
		t.Errorf("%+v", r[0])
	}
	if r[1].Slice.String() != "scenario=typo, difficulty=3" || r[1].OnNull != Fail || r[1].OnInconclusive != Pass || r[1].OnMissing != Warn {
		t.Errorf("%+v", r[1])
	}
	if r[2].Bound != 0.0025 || r[2].Share || r[2].Where != `engine == "flat"` || r[3].Bound != 1.5*(1<<20) {
		t.Errorf("%+v, %+v", r[2], r[3])
	}
	if r[4].Bound != 0.1 || !r[4].Share || r[4].OnInconclusive != Fail || r[4].Line != 12 || r[5].OnInconclusive != Warn {
		t.Errorf("%+v, %+v", r[4], r[5])
	}
	if got := r[1].String(); got != "recall_at_10 (scenario=typo, difficulty=3): min 0.90" {
		t.Errorf("a rule prints as %q", got)
	}
	if got := strings.Join(p.MetricNames(), " "); got != "recall_at_10 latency_p99_seconds index_bytes qps" {
		t.Errorf("metrics %s", got)
	}
}

// Every fault says where it stands and what to do.
func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "gate.yaml: it is empty",
		"rules: []":                       "gate.yaml:1:8: rules is empty",
		"rules: {}":                       "gate.yaml:1:8: rules must be a list",
		"a: [":                            "gate.yaml:1:4: it is not valid YAML",
		"confidence":                      "gate.yaml:1:1: a policy must be a mapping",
		"rule: [{metric: mrr, min: 0.5}]": "gate.yaml:1:1: unknown key \"rule\" (did you mean \"rules\"?)",
		"rules: [{metric: mrr}]":          "gate.yaml:1:9: a rule needs one of max_drop, max_rise",
		"rules: [{min: 0.5}]":             "gate.yaml:1:9: a rule needs the key \"metric\"",
		"rules: [{metric: mrr, min: 0.5, max_drop: 0.1}]":                "gate.yaml:1:9: a rule asks one thing, and this one has max_drop and min",
		"rules: [{metric: mrr, min: 0.5, min: 0.6}]":                     "gate.yaml:1:33: the key \"min\" stands here twice",
		"rules: [{metric: recal_at_10, min: 0.5}]":                       "gate.yaml:1:18: metric: unknown column \"recal_at_10\" (did you mean \"recall_at_10\"?)",
		"rules: [{metric: engine, min: 0.5}]":                            "neither better high nor better low",
		"rules: [{metric: stage_p99_seconds, max: 5}]":                   "is not one number",
		"rules: [{metric: mrr, max_dorp: 0.1}]":                          "(did you mean \"max_drop\"?)",
		"rules: [{metric: mrr, max_rise: 0.1}]":                          "gate.yaml:1:33: max_rise does not fit mrr, which is better high; use max_drop",
		"rules: [{metric: latency_p99_seconds, min: 1}]":                 "min does not fit latency_p99_seconds, which is better low; use max",
		"rules: [{metric: latency_p99_seconds, require_rise: 10%}]":      "use require_drop",
		"rules: [{metric: mrr, max_drop: 2}]":                            "for a percentage of BASE write 2%",
		"rules: [{metric: mrr, min: 90%}]":                               "write the bound itself, 0.9",
		"rules: [{metric: mrr, max_drop: -0.1}]":                         "at least 0",
		"rules: [{metric: mrr, max_drop: [1]}]":                          "max_drop must be a number",
		"rules: [{metric: mrr, max_drop: .nan}]":                         "must be a number",
		"rules: [{metric: mrr, max_drop: 10ms}]":                         "is not a number, such as 0.01, nor a percentage",
		"rules: [{metric: index_bytes, max: 10ms}]":                      "such as 8MiB",
		"rules: [{metric: mrr, max_count: 1.5}]":                         "whole number",
		"rules: [{metric: qps, max_count: 1}]":                           "counts nothing; use min",
		"rules: [{metric: mrr, require_rise: 0}]":                        "above 0",
		"rules: [{metric: qps, slice: {scenario: typo}, max_drop: 5%}]":  "has no slices",
		"rules: [{metric: mrr, slice: typo, min: 0.5}]":                  "slice must be a mapping",
		"rules: [{metric: mrr, slice: {scenario: [a]}, min: 0.5}]":       "must have one value",
		"rules: [{metric: mrr, where: 'engin == 1', min: 0.5}]":          "did you mean \"engine\"?",
		"rules: [{metric: mrr, min: 0.5, on_null: ignore}]":              "on_null must be fail, warn, pass, not \"ignore\"",
		"rules: [{metric: mrr, min: 0.5}, {metric: mrr, min: 0.6}]":      "stands here twice, first in line 1",
		"rules: [{metric: mrr, min: 0.5}]\nconfidence: 99":               "gate.yaml:2:13: confidence must be a number from 0.5",
		"rules: [{metric: mrr, min: 0.5}]\nmatch: [engin]":               "gate.yaml:2:9: match: unknown column",
		"rules: [{metric: mrr, min: 0.5}]\nallow_other_machine: yes sir": "must be true or false",
		"rules: [{metric: mrr, min: 0.5}]\n---\nrules: []":               "gate.yaml:3:1: a second document",
		"rules: " + strings.Repeat("[", 30):                              "nested more than 20 deep",
		"rules: \xff":                                                    "not UTF-8",
	} {
		_, err := Parse("gate.yaml", []byte(text))
		var fault *Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &fault) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	// All faults are told at once.
	_, err := Parse("gate.yaml", []byte("rules:\n  - {metric: mrrr, min: 1}\n  - {metric: mrr, max: 1}\nmatsch: 1\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three faults: %v", err)
	}
}

func TestReadAbsent(t *testing.T) {
	_, err := Read(filepath.Join(t.TempDir(), "gate.yaml"))
	var fault *Error
	if !errors.As(err, &fault) || !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v", err)
	}
}

// The schema accepts what Parse accepts, and its example, and refuses what is no policy.
func TestPolicySchema(t *testing.T) {
	schema := schemaOf(t, Schema)
	example, err := os.ReadFile("../../examples/gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("gate.yaml", example); err != nil {
		t.Error(err)
	}
	for text, good := range map[string]bool{
		string(example): true,
		wide:            true,
		"rules: [{metric: latency_p99_seconds, max_rise: 2ms, on_missing: pass}]": true,
		"rules: []":                                               false,
		"rules: [{metric: mrr}]":                                  false,
		"rules: [{metric: mrr, min: 1, max: 2}]":                  false,
		"rules: [{metric: mrr, min: 1, on_null: ignore}]":         false,
		"rules: [{metric: mrr, max_count: 1.5}]":                  false,
		"rules: [{metric: mrr, min: 1}]\nconfidence: 1":           false,
		"rules: [{metric: mrr, min: 1}]\nmatch: engine":           false,
		"rules: [{metric: mrr, min: 1, slice: {scenario: [a]}}]":  false,
		"rules: [{metric: mrr, min: 1, slice: {}}]":               false,
		"rules: [{metric: mrr, min: 1, unknown: 1}]":              false,
		"rules: [{metric: mrr, min: 1}]\nallow_other_data: maybe": false,
	} {
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, schema, v, "policy"); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Parse("gate.yaml", []byte(text)); good && err != nil {
			t.Errorf("%s: Parse says %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(wide)
	f.Add("rules:\n  - {metric: index_bytes, max: 1MiB}\nmatch: [engine]\n")
	f.Add("&a [*a]")
	f.Add("? {a: 1}\n: 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("gate.yaml", []byte(text))
		if err == nil && len(p.Rules) == 0 {
			t.Error("a policy without rules")
		}
	})
}
