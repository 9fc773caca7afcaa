package file

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestSchemaIsWhole checks that every reference leads somewhere, and that every key and parameter is there.
func TestSchemaIsWhole(t *testing.T) {
	reg := testRegistry()
	raw, err := Schema(reg)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Schema(reg)
	if err != nil || !bytes.Equal(raw, again) {
		t.Error("two calls give different schemas")
	}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	used := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			if to, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(to, "#/$defs/")
				if defs[name] == nil {
					t.Errorf("%s leads nowhere", to)
				}
				used[name] = true
			}
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(root)
	for name := range defs {
		if !used[name] {
			t.Errorf("the definition %s is not used", name)
		}
	}
	properties := root["properties"].(map[string]any)
	for _, f := range rootFields() {
		if (properties[f.name] == nil) != (f.instead != "") {
			t.Errorf("key %s: in the schema %v, built %v", f.name, properties[f.name] != nil, f.instead == "")
		}
	}
	for _, e := range reg.Engines {
		for _, p := range append(e.Params, e.Search...) {
			if !bytes.Contains(raw, []byte(p.Doc)) {
				t.Errorf("%s of %s is not described", p.Name, e.Name)
			}
		}
	}
}
