package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// validate holds a value against a JSON Schema that uses no more than the keywords below; another one is an error, so
// that nothing is passed over.
func validate(root, schema map[string]any, v any, path string) error {
	for keyword := range schema {
		if !slices.Contains([]string{
			"$schema", "$defs", "$ref", "title", "description", "default", "type", "enum", "const", "properties", "required", "additionalProperties",
			"minProperties", "items", "minItems", "minimum", "exclusiveMaximum", "pattern", "anyOf", "oneOf",
		}, keyword) {
			return fmt.Errorf("%s: the validator does not know the keyword %q", path, keyword)
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		target, ok := root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: %s leads nowhere", path, ref)
		}
		if err := validate(root, target, v, path); err != nil {
			return err
		}
	}
	if err := validateValue(schema, v, path); err != nil {
		return err
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		choices, ok := schema[keyword].([]any)
		if !ok {
			continue
		}
		fit := 0
		for _, c := range choices {
			if validate(root, c.(map[string]any), v, path) == nil {
				fit++
			}
		}
		if fit == 0 || keyword == "oneOf" && fit != 1 {
			return fmt.Errorf("%s: %v fits %d of %s", path, v, fit, keyword)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return validateObject(root, schema, v, path)
	case []any:
		if least, ok := schema["minItems"].(float64); ok && len(v) < int(least) {
			return fmt.Errorf("%s: %d items", path, len(v))
		}
		if items, ok := schema["items"].(map[string]any); ok {
			for i, one := range v {
				if err := validate(root, items, one, fmt.Sprintf("%s[%d]", path, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func validateValue(schema map[string]any, v any, path string) error {
	if types, ok := schema["type"]; ok {
		names := []string{fmt.Sprint(types)}
		if list, ok := types.([]any); ok {
			names = nil
			for _, one := range list {
				names = append(names, fmt.Sprint(one))
			}
		}
		if !slices.ContainsFunc(names, func(name string) bool { return isType(name, v) }) {
			return fmt.Errorf("%s: %v is not of type %v", path, v, types)
		}
	}
	if values, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(values, func(one any) bool { return reflect.DeepEqual(one, v) }) {
		return fmt.Errorf("%s: %v is none of %v", path, v, values)
	}
	if want, ok := schema["const"]; ok && !reflect.DeepEqual(want, v) {
		return fmt.Errorf("%s: %v is not %v", path, v, want)
	}
	if number, ok := v.(float64); ok {
		if least, ok := schema["minimum"].(float64); ok && number < least {
			return fmt.Errorf("%s: %g is below %g", path, number, least)
		}
		if limit, ok := schema["exclusiveMaximum"].(float64); ok && number >= limit {
			return fmt.Errorf("%s: %g is not below %g", path, number, limit)
		}
	}
	if text, ok := v.(string); ok {
		if pattern, ok := schema["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(text) {
			return fmt.Errorf("%s: %q does not match %s", path, text, pattern)
		}
	}
	return nil
}

func isType(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	}
	return name == "object"
}

func validateObject(root, schema, v map[string]any, path string) error {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s has no %s", path, name)
		}
	}
	if least, ok := schema["minProperties"].(float64); ok && len(v) < int(least) {
		return fmt.Errorf("%s has %d keys", path, len(v))
	}
	for name, one := range v {
		property, ok := properties[name].(map[string]any)
		if !ok {
			switch further := schema["additionalProperties"].(type) {
			case bool:
				if !further {
					return fmt.Errorf("%s has the unknown key %s", path, name)
				}
				continue
			case map[string]any:
				property = further
			default:
				continue
			}
		}
		if err := validate(root, property, one, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func schemaOf(t *testing.T, make func() ([]byte, error)) map[string]any {
	t.Helper()
	raw, err := make()
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}
