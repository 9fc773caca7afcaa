package datasets

import (
	"cmp"
	"maps"
	"slices"
)

// Slice is a group of cases: those that have a value in a field.
type Slice struct {
	Field, Value string
}

// String is "scenario=versions".
func (s Slice) String() string { return s.Field + "=" + s.Value }

// SliceCases is a slice with its cases.
type SliceCases struct {
	Slice
	Cases []int // indices into Golden.Cases, ascending
}

// The names of slices that are not fields of Case.Extra.
const (
	SliceAnswerability = "answerability"
	SliceScenario      = "scenario"
	SliceDifficulty    = "difficulty"
	SliceSplit         = "split"
	SliceTags          = "tags"
)

// The values of SliceAnswerability.
const (
	Answerable   = "answerable"
	Unanswerable = "unanswerable"
)

// maxSliceValues is how many values a further field may have to be one that cases are grouped by.
const maxSliceValues = 50

// Slices are the groups that a case belongs to: its answerability, scenario, difficulty and split, each of its tags, and
// every further field, in this order. A field that the case does not have is left out.
func (c *Case) Slices() []Slice {
	answerability := Answerable
	if c.Unanswerable {
		answerability = Unanswerable
	}
	all := []Slice{{SliceAnswerability, answerability}, {SliceScenario, c.Scenario}, {SliceDifficulty, c.Difficulty}, {SliceSplit, c.Split}}
	for _, tag := range slices.Compact(slices.Sorted(slices.Values(c.Tags))) {
		all = append(all, Slice{SliceTags, tag})
	}
	for _, field := range slices.Sorted(maps.Keys(c.Extra)) {
		all = append(all, Slice{field, c.Extra[field]})
	}
	return slices.DeleteFunc(all, func(s Slice) bool { return s.Value == "" })
}

// Slices are all groups of the set, by field in the order of Case.Slices and then by value. Further fields that say
// something else of nearly every case, such as an answer or a reviewer's remark, do not group: a field does if it has at
// most 50 values, and of these no more than half as many as there are cases that have the field.
func (g *Golden) Slices() []SliceCases {
	cases := map[Slice][]int{}
	var fields []string
	values, having := map[string]int{}, map[string]int{}
	for i := range g.Cases {
		for _, s := range g.Cases[i].Slices() {
			if cases[s] == nil {
				values[s.Field]++
			}
			cases[s] = append(cases[s], i)
			having[s.Field]++
		}
	}
	known := []string{SliceAnswerability, SliceScenario, SliceDifficulty, SliceSplit, SliceTags}
	for _, field := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, field) && values[field] <= min(maxSliceValues, having[field]/2) {
			fields = append(fields, field)
		}
	}
	fields = append(known, fields...)
	var all []SliceCases
	for s, of := range cases {
		if slices.Contains(fields, s.Field) {
			all = append(all, SliceCases{s, of})
		}
	}
	slices.SortFunc(all, func(a, b SliceCases) int {
		return cmp.Or(slices.Index(fields, a.Field)-slices.Index(fields, b.Field), cmp.Compare(a.Value, b.Value))
	})
	return all
}
