package compare

import (
	"fmt"
	"slices"
	"strings"
)

// Slice chooses questions: those that meet all conditions. The empty one chooses all.
type Slice []Condition

// Condition asks that a field of a question has a value; for the field tags, that the value is one of its tags.
type Condition struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

// String is the slice as people write it: "scenario=typo, difficulty=hard".
func (s Slice) String() string {
	parts := make([]string, len(s))
	for i, c := range s {
		parts[i] = c.Field + "=" + c.Value
	}
	return strings.Join(parts, ", ")
}

// ParseSlice reads what String writes.
func ParseSlice(text string) (Slice, error) {
	var s Slice
	for part := range strings.SplitSeq(text, ",") {
		field, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || field == "" || value == "" {
			return nil, fmt.Errorf("slice %q: write field=value, such as scenario=typo", text)
		}
		s = append(s, Condition{strings.TrimSpace(field), strings.TrimSpace(value)})
	}
	return s, nil
}

func (s Slice) holds(c *Case) bool {
	for _, one := range s {
		if one.Field == "tags" {
			if !slices.Contains(c.Tags, one.Value) {
				return false
			}
			continue
		}
		if v, ok := c.Fields[one.Field]; !ok || v != one.Value {
			return false
		}
	}
	return true
}

// Slices are all values that a field has among the cases, each as a slice of its own, in order of the values.
func (s *Side) Slices(field string) []Slice {
	seen := map[string]bool{}
	for i := range s.Cases {
		if field == "tags" {
			for _, tag := range s.Cases[i].Tags {
				seen[tag] = true
			}
		} else if v, ok := s.Cases[i].Fields[field]; ok {
			seen[v] = true
		}
	}
	var out []Slice
	for _, v := range sortedKeys(seen) {
		out = append(out, Slice{{field, v}})
	}
	return out
}

// CheckSlice is an error if the side has questions but none for the slice; it says which fields and values there are.
func (s *Side) CheckSlice(slice Slice) error {
	if len(slice) == 0 {
		return nil
	}
	if len(s.Cases) == 0 {
		return fmt.Errorf("%s: there is no slice %s, for the metrics of single questions are missing; give the results folder, which holds them in queries/", s.Name, slice)
	}
	for i := range s.Cases {
		if slice.holds(&s.Cases[i]) {
			return nil
		}
	}
	for _, c := range slice {
		var values []string
		for _, one := range s.Slices(c.Field) {
			values = append(values, one[0].Value)
		}
		if len(values) == 0 {
			return fmt.Errorf("%s: no question has a field %q; the fields are %s", s.Name, c.Field, strings.Join(s.fields(), ", "))
		}
		if !slices.Contains(values, c.Value) {
			return fmt.Errorf("%s: no question has %s=%s; the values are %s", s.Name, c.Field, c.Value, strings.Join(values, ", "))
		}
	}
	return fmt.Errorf("%s: no question meets all of %s", s.Name, slice)
}

func (s *Side) fields() []string {
	seen := map[string]bool{}
	for i := range s.Cases {
		for name := range s.Cases[i].Fields {
			seen[name] = true
		}
		if len(s.Cases[i].Tags) > 0 {
			seen["tags"] = true
		}
	}
	return sortedKeys(seen)
}

// Has says whether the side has a question in the slice.
func (s *Side) Has(slice Slice) bool {
	for i := range s.Cases {
		if slice.holds(&s.Cases[i]) {
			return true
		}
	}
	return false
}
