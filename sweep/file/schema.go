package file

import (
	"encoding/json"
	"fmt"
	"strings"

	"frontier/indexes"
	"frontier/internal/param"
)

// object is a JSON object; encoding/json writes its keys in order of name, so that the schema is the same each time.
type object = map[string]any

// Schema is the JSON Schema (2020-12) of a sweep file, made from the tables that Parse reads by and from the parameters
// of what reg has. It says what can be said of single values; what spans several is left to Parse.
func Schema(reg Registry) ([]byte, error) {
	defs := object{
		"seed":       object{"type": "integer", "minimum": 0},
		"expression": expressionSchema(),
		"ks":         oneOrList(object{"type": "integer", "minimum": 1, "maximum": 100_000}),
		"budget":     budgetSchema(),
		"dataset":    sectionSchema(datasetFields()),
		"synthetic":  sectionSchema(syntheticFields()),
		"vectors":    vectorsSchema(),
		"measure":    sectionSchema(measureFields()),
		"limits":     sectionSchema(limitsFields()),
		"cost":       sectionSchema(costFields()),
		"strategy":   sectionSchema(strategyFields()),
		"rerankers":  oneOrList(closed(object{"kind": object{"const": "none"}}, "kind")),
		"load":       loadSchema(),
		"tags":       oneOrList(object{"type": "string", "minLength": 1}),
		"rates":      oneOrList(object{"type": "number", "minimum": 1e-3, "maximum": maxRate}),
		"durations":  oneOrList(durationSchema()),
		"until":      untilSchema(),
		"flag":       object{"type": "boolean"},
		"objectives": oneOrList(object{"type": "string", "pattern": "^[a-z0-9_]+:(max|min)$"}),
		"chunkers":   oneOrList(object{"oneOf": componentSchemas(kindsOfChunkers(reg))}),
		"embedders":  oneOrList(object{"oneOf": componentSchemas(kindsOfEmbedders(reg))}),
		"index":      object{"oneOf": engineSchemas(reg)},
		"hybrid":     hybridSchema(reg),
		"indexes":    oneOrList(object{"anyOf": []any{ref("index"), ref("hybrid")}}),
		"names":      oneOrList(object{"type": "string", "minLength": 1}),
		"modes":      axisSchema(filterModeSpec()),
		"boosts":     axisSchema(boostSpec()),
		"hard":       sectionSchema(filterLimitFields()),
		"filters":    oneOrList(sectionSchema(filterFields())),
	}
	root := sectionSchema(rootFields())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "frontier sweep file"
	root["$defs"] = defs
	root["properties"].(object)["version"] = object{"const": 1, "description": "Version of this format."}
	// Exactly one of the two says what is measured on.
	root["oneOf"] = []any{object{"required": []string{"dataset"}}, object{"required": []string{"vectors"}}}
	root["required"] = []string{"version", "indexes"}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the JSON Schema of sweep files: %w", err)
	}
	return append(out, '\n'), nil
}

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// oneOrList allows a value or a list of such values.
func oneOrList(one object) object {
	return object{"anyOf": []any{one, object{"type": "array", "minItems": 1, "items": one}}}
}

// closed is a mapping with these keys and no others.
func closed(properties object, required ...string) object {
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func sectionSchema(fields []field) object {
	properties := object{}
	var required []string
	for i := range fields {
		f := &fields[i]
		if f.instead != "" {
			continue
		}
		properties[f.name] = f.jsonSchema()
		if f.required {
			required = append(required, f.name)
		}
	}
	return closed(properties, required...)
}

func vectorsSchema() object {
	out := sectionSchema(vectorsFields())
	metrics := []any{"l2", "euclidean", "sqeuclidean", "ip", "dot", "inner_product", "inner-product", "cosine", "angular", "cos"}
	out["properties"].(object)["metric"] = object{"enum": metrics, "description": "How vectors are compared."}
	out["oneOf"] = []any{
		object{"required": []string{"synthetic"}, "not": object{"anyOf": []any{
			object{"required": []string{"base"}}, object{"required": []string{"queries"}}, object{"required": []string{"truth"}},
		}}},
		object{"required": []string{"base", "queries"}},
	}
	return out
}

func (f *field) jsonSchema() object {
	var out object
	switch f.kind {
	case fieldInt:
		out = numberSchema("integer", f.min, f.max)
	case fieldNumber:
		out = numberSchema("number", f.min, f.max)
	case fieldText:
		out = object{"type": "string", "minLength": 1}
		if len(f.enum) > 0 {
			out = object{"enum": f.enum}
		}
	case fieldDuration:
		out = durationSchema()
	case fieldSize:
		out = object{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? ?([KMGT]iB|[kKMGT]?B)$`}
	default:
		out = object{}
		if f.schema != "" {
			out = ref(f.schema)
		}
	}
	out["description"] = f.doc
	switch def := f.def.(type) {
	case nil:
	case string:
		if f.kind != fieldOther {
			out["default"] = def
		}
	default:
		out["default"] = def
	}
	return out
}

func durationSchema() object {
	return object{"type": "string", "pattern": `^[0-9.]+(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*$`}
}

// loadSchema is measure.load: mappings of one key each.
func loadSchema() object {
	return oneOrList(object{"oneOf": []any{
		closed(object{Closed: oneOrList(numberSchema("integer", 1, maxClients))}, Closed),
		closed(object{Open: sectionSchema(openFields())}, Open),
		closed(object{SLO: sectionSchema(sloFields())}, SLO),
	}})
}

// budgetSchema is measure.context_tokens: one number, which may stand in a list.
func budgetSchema() object {
	one := numberSchema("integer", 1, maxContext)
	return object{"anyOf": []any{one, object{"type": "array", "minItems": 1, "maxItems": 1, "items": one}}}
}

func untilSchema() object {
	widths := object{}
	for _, stat := range UntilStats() {
		widths[stat] = object{"type": "string", "pattern": "^[0-9.]+%$"}
	}
	out := closed(widths)
	out["minProperties"] = 1
	return out
}

func numberSchema(kind string, low, high float64) object {
	out := object{"type": kind, "minimum": low}
	if high != 0 {
		out["maximum"] = high
	}
	return out
}

func expressionSchema() object {
	return object{
		"type": "string", "minLength": 1, "maxLength": maxExpr,
		"description": "Arithmetic over n (the number of vectors) and dim (their dimension) with " + strings.Join(functions(), ", ") + ".",
	}
}

// axisSchema allows one value of a parameter, a list of them, or a range.
func axisSchema(spec *param.Spec) object {
	var one object
	switch spec.Type {
	case param.Int, param.Float:
		kind := map[param.Type]string{param.Int: "integer", param.Float: "number"}[spec.Type]
		one = object{"anyOf": []any{numberSchema(kind, spec.Min, spec.Max), ref("expression")}}
	case param.Amount:
		one = object{"anyOf": []any{object{"type": "integer", "minimum": 0}, object{"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?%$"}, ref("expression")}}
	case param.Bool:
		one = object{"type": "boolean"}
	default:
		one = object{"type": "string"}
		if len(spec.Enum) > 0 {
			one = object{"enum": spec.Enum}
		}
	}
	choices := []any{one}
	if spec.Type == param.Int || spec.Type == param.Float || spec.Type == param.Amount {
		span := sectionSchema(rangeFields())
		span["properties"].(object)["from"], span["properties"].(object)["to"] = one, one
		choices = append(choices, span)
	}
	out := oneOrList(object{"anyOf": choices})
	out["description"] = spec.Doc
	if spec.Default != nil {
		out["default"] = spec.Default
	}
	return out
}

// paramSchemas are the properties of parameters, and which of them are required.
func paramSchemas(specs []param.Spec) (properties object, required []string) {
	properties = object{}
	for i := range specs {
		properties[specs[i].Name] = axisSchema(&specs[i])
		if specs[i].Default == nil {
			required = append(required, specs[i].Name)
		}
	}
	return properties, required
}

func componentSchemas(c catalog) []any {
	var out []any
	for _, one := range c.known {
		properties, required := paramSchemas(one.params)
		properties["kind"] = object{"const": one.name}
		out = append(out, closed(properties, append([]string{"kind"}, required...)...))
	}
	return out
}

func engineSchemas(reg Registry) []any {
	var out []any
	for i := range reg.Engines {
		if e := &reg.Engines[i]; e.Name != hybrid {
			out = append(out, engineSchema(e))
		}
	}
	return out
}

func engineSchema(e *indexes.Engine) object {
	properties, required := paramSchemas(e.Params)
	properties["engine"] = object{"const": e.Name, "description": e.Doc}
	required = append([]string{"engine"}, required...)
	search, searchRequired := paramSchemas(e.Search)
	properties["search"] = closed(search, searchRequired...)
	if len(searchRequired) > 0 {
		required = append(required, "search")
	}
	out := closed(properties, required...)
	for i := range e.Params {
		if isTemplate(&e.Params[i]) { // other keys fill its placeholders
			out["additionalProperties"] = axisSchema(TemplateSpec("placeholder"))
		}
	}
	return out
}

func hybridSchema(reg Registry) object {
	known := kindsOfEngines(reg, false)
	return closed(object{
		"engine": object{"const": hybrid},
		"of":     object{"type": "array", "minItems": 2, "maxItems": 2, "items": object{"anyOf": []any{object{"enum": known.names()}, ref("index")}}},
		"fusion": oneOrList(object{"anyOf": []any{
			closed(object{"rrf": axisSchema(rrfSpec())}, "rrf"),
			closed(object{"convex": axisSchema(convexSpec()), "norm": axisSchema(normSpec())}, "convex"),
		}}),
	}, "engine", "of")
}
