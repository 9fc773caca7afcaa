package gate

import (
	"encoding/json"
	"fmt"

	"frontier/results/compare"
)

// policyField is a key of a policy or of a rule.
type policyField struct {
	name   string
	schema object
	doc    string
}

// object is a JSON object; encoding/json writes its keys in order of name, so that the schema is the same each time.
type object = map[string]any

func policyFields() []policyField {
	return append([]policyField{
		{"rules", object{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/rule"}}, "What NEW is held to."},
		{"match", object{"type": "array", "minItems": 1, "items": object{"type": "string"}}, "Columns that make a point of BASE and one of NEW the same. Default: all parameters."},
		{"confidence", object{"type": "number", "minimum": 0.5, "exclusiveMaximum": 1, "default": 0.99}, "Of every decision by an interval, and of all of them together."},
		{"allow_other_machine", object{"type": "boolean", "default": false}, "Decide on times, rates and memory even where BASE was measured on another machine."},
		{"allow_other_data", object{"type": "boolean", "default": false}, "Decide on quality even where the data or the judgements differ, by the questions that both have."},
	}, actionFields()...)
}

func actionFields() []policyField {
	action := func(def Action) object { return object{"enum": actions(), "default": string(def)} }
	return []policyField{
		{"on_missing", action(Fail), "What follows where NEW lacks a point of BASE, or it failed."},
		{"on_inconclusive", action(Warn), "What follows where neither is shown; of require_rise and require_drop, fail unless the rule has it."},
		{"on_null", action(Fail), "What follows where a metric has no value: missing data is not a pass."},
	}
}

func ruleFields() []policyField {
	fields := []policyField{
		{"metric", object{"type": "string"}, "A column of results.parquet that is better one way."},
		{"slice", object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": []string{"string", "number", "boolean"}}}, "Fields of questions, such as {scenario: typo}: only those count."},
		{"where", object{"type": "string"}, "Points that the rule is for, such as engine == \"hnswlib\". Default: all."},
	}
	for _, k := range kinds() {
		bound := object{"anyOf": []any{object{"type": "number", "minimum": 0}, object{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?( ?[A-Za-zµ%]+)?`}}}
		if k.kind == MaxCount {
			bound = object{"type": "integer", "minimum": 0}
		}
		fields = append(fields, policyField{string(k.kind), bound, k.doc})
	}
	for _, f := range actionFields() {
		delete(f.schema, "default") // that of the policy
		fields = append(fields, f)
	}
	return fields
}

// closed is an object with these fields and no others.
func closed(fields []policyField, required ...string) object {
	properties := object{}
	for _, f := range fields {
		one := object{"description": f.doc}
		for k, v := range f.schema {
			one[k] = v
		}
		properties[f.name] = one
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// Schema is the JSON Schema (2020-12) of a policy. That a bound fits its metric is left to Parse.
func Schema() ([]byte, error) {
	root := closed(policyFields(), "rules")
	rule := closed(ruleFields(), "metric")
	var one []any
	for _, k := range kinds() {
		one = append(one, object{"required": []string{string(k.kind)}})
	}
	rule["oneOf"] = one
	root["$schema"] = draft
	root["title"] = "frontier gate policy"
	root["$defs"] = object{"rule": rule}
	return encodeSchema(root, "policies")
}

const draft = "https://json-schema.org/draft/2020-12/schema"

func encodeSchema(root object, of string) ([]byte, error) {
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the JSON Schema of %s: %w", of, err)
	}
	return append(out, '\n'), nil
}

// ResultSchema is the JSON Schema (2020-12) of what a gate prints as JSON.
func ResultSchema() ([]byte, error) {
	text, count := object{"type": "string"}, object{"type": "integer", "minimum": 0}
	number := object{"type": []string{"number", "null"}}
	texts := object{"type": "array", "items": text}
	decision := closed([]policyField{
		{"rule", count, "Number of the rule in the policy, from 0."},
		{"point", text, "The point, by the columns in which points differ; empty for a rule that fits no point."},
		{"key", object{"type": "object"}, "The columns that the point was matched by."},
		{"outcome", object{"enum": outcomes()}, "What was found."},
		{"verdict", object{"enum": actions()}, "What follows from it."},
		{"why", text, "The outcome in words."},
		{"method", object{"enum": []string{"", string(compare.ByCase), string(compare.ByBlock), string(compare.ByInterval), string(compare.Exactly), string(compare.ByValue)}}, "What the decision rests on."},
		{"base", number, "In BASE; null for rules about NEW alone."},
		{"new", number, "In NEW."},
		{"change", number, "NEW - BASE, or NEW/BASE - 1 if relative."},
		{"relative", object{"type": "boolean"}, "change, low and high are shares of base."},
		{"low", number, "Lower end of the interval of the change, or of NEW for rules about it alone."},
		{"high", number, "Upper end of that interval."},
		{"p", number, "Two-sided p-value of the bound, before Holm's correction; null without a test."},
		{"p_holm", number, "After it, over all decisions of this gate."},
		{"cases", count, "Questions, or pairs of blocks, that it rests on; 0 for values of rows."},
		{"won", texts, "Questions that got better."},
		{"lost", texts, "Questions that got worse."},
	}, "rule", "point", "outcome", "verdict", "why")
	rule := closed([]policyField{
		{"text", text, "The rule in one line."},
		{"metric", text, "Its column."},
		{"kind", object{"enum": kindNames()}, "What it asks."},
		{"line", count, "Its line in the policy."},
		{"limits", texts, "What the rule can never do with the questions that there are."},
	}, "text", "metric", "kind", "line", "limits")
	residue := closed([]policyField{
		{"kind", object{"enum": []string{string(compare.Data), string(compare.Judgement), string(compare.Machine), string(compare.Parameter), string(compare.Environment)}}, "What it is about."},
		{"column", text, "What differs."},
		{"base", text, "In BASE."},
		{"new", text, "In NEW."},
		{"points", count, "Matched points that differ; 0 for the run as a whole."},
		{"example", text, "One of them."},
	}, "kind", "column", "base", "new", "points")
	root := closed([]policyField{
		{"version", object{"const": resultVersion}, "Version of this form."},
		{"verdict", object{"enum": actions()}, "fail, warn or pass."},
		{"policy", text, "The policy's file."},
		{"base", text, "BASE as given."},
		{"new", text, "NEW as given."},
		{"confidence", object{"type": "number"}, "Of the decisions."},
		{"matched_by", texts, "Columns that points were matched by."},
		{"points", count, "Points that both have."},
		{"only_new", texts, "Points that only NEW has; rules about changes skip them."},
		{"rules", object{"type": "array", "items": rule}, "The rules."},
		{"decisions", object{"type": "array", "items": decision}, "One for each rule and point."},
		{"residue", object{"type": "array", "items": residue}, "What else differs between the two."},
		{"warnings", texts, "What to know before trusting the verdict."},
	}, "version", "verdict", "policy", "base", "new", "confidence", "matched_by", "points", "rules", "decisions", "residue", "warnings")
	root["$schema"] = draft
	root["title"] = "result of frontier gate"
	return encodeSchema(root, "gate results")
}
