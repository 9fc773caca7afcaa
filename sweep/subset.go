package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/results"
	"frontier/sweep/file"
)

// namedCases is how many cases a manifest names; of more it has a digest alone.
const namedCases = 1000

// takeSubset leaves in golden only the cases that the sweep file asks for, in their order, and says which these are; nil
// where it asks for all.
func takeSubset(f *file.File, golden *datasets.Golden) (*results.Subset, []string, error) {
	d := f.Dataset
	if d.Subset() == "" {
		return nil, nil, nil
	}
	of := len(golden.Cases)
	kept := golden.Cases
	if d.Split != "" {
		kept = casesIn(kept, datasets.SliceSplit, []string{d.Split})
		if len(kept) == 0 {
			return nil, nil, fault(f, d.SplitPos, "dataset.split", fmt.Sprintf("no case has the split %q", d.Split), known(golden.Cases, datasets.SliceSplit))
		}
	}
	if len(d.Tags) > 0 {
		before := kept
		for _, tag := range d.Tags {
			if len(casesIn(before, datasets.SliceTags, []string{tag})) == 0 {
				return nil, nil, fault(f, d.TagsPos, "dataset.tags", fmt.Sprintf("no case has the tag %q", tag), known(before, datasets.SliceTags))
			}
		}
		kept = casesIn(before, datasets.SliceTags, d.Tags)
	}
	var warnings []string
	if d.Sample > 0 {
		if d.By != "" && !slices.ContainsFunc(kept, func(c datasets.Case) bool { return sliceValue(&c, d.By) != "" }) {
			return nil, nil, fault(f, d.ByPos, "dataset.by", fmt.Sprintf("no case has the field %q", d.By), "known ones are "+strings.Join(sliceFields(kept), ", "))
		}
		if d.Sample > len(kept) {
			warnings = append(warnings, fmt.Sprintf("a sample of %d cases was asked for, and there are %d: all of them are taken", d.Sample, len(kept)))
		}
		kept = sample(kept, d.Sample, d.By, f.Seed)
	}
	s := &results.Subset{Rule: d.Subset(), Cases: len(kept), Of: of}
	for _, c := range kept {
		s.IDs = append(s.IDs, c.ID)
	}
	s.Digest = string(cas.Hash(strings.Join(s.IDs, "\n")))
	if len(s.IDs) > namedCases {
		s.IDs = nil
	}
	golden.Cases = kept
	return s, warnings, nil
}

// casesIn are the cases that have any of the values in a field.
func casesIn(cases []datasets.Case, field string, values []string) []datasets.Case {
	var kept []datasets.Case
	for _, c := range cases {
		if slices.ContainsFunc(c.Slices(), func(s datasets.Slice) bool { return s.Field == field && slices.Contains(values, s.Value) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

func sliceValue(c *datasets.Case, field string) string {
	for _, s := range c.Slices() {
		if s.Field == field {
			return s.Value
		}
	}
	return ""
}

// known are the values of a field that cases have, as a hint.
func known(cases []datasets.Case, field string) string {
	seen := map[string]bool{}
	for i := range cases {
		for _, s := range cases[i].Slices() {
			if s.Field == field {
				seen[s.Value] = true
			}
		}
	}
	if len(seen) == 0 {
		return fmt.Sprintf("no case has a %s at all", strings.TrimSuffix(field, "s"))
	}
	var all []string
	for v := range seen {
		all = append(all, v)
	}
	slices.Sort(all)
	return "known ones are " + strings.Join(all[:min(len(all), 20)], ", ")
}

func sliceFields(cases []datasets.Case) []string {
	var all []string
	for i := range cases {
		for _, s := range cases[i].Slices() {
			if s.Field != datasets.SliceTags && !slices.Contains(all, s.Field) {
				all = append(all, s.Field)
			}
		}
	}
	return all
}

// sample takes n cases, from each value of the field by in proportion to how many have it, and at least one of each where
// n allows it. Which cases of a group are taken depends on the seed and their ids alone, so that a set that grew keeps
// most of its sample.
func sample(cases []datasets.Case, n int, by string, seed uint64) []datasets.Case {
	groups := map[string][]int{}
	for i := range cases {
		value := ""
		if by != "" {
			value = sliceValue(&cases[i], by)
		}
		groups[value] = append(groups[value], i)
	}
	var values []string
	for v, members := range groups {
		values = append(values, v)
		order := func(i int) string { return string(cas.Hash(fmt.Sprintf("%d %s", seed, cases[i].ID))) }
		slices.SortFunc(members, func(a, b int) int { return cmp.Compare(order(a), order(b)) })
	}
	slices.Sort(values)
	taken := make([]int, len(values))
	left := min(n, len(cases))
	if left >= len(values) {
		for i := range taken {
			taken[i] = 1
		}
		left -= len(values)
	}
	for ; left > 0; left-- { // Sainte-Laguë: the next one goes where it is missing most
		next, most := -1, 0.0
		for i, v := range values {
			size := len(groups[v])
			if share := float64(size) / float64(2*taken[i]+1); taken[i] < size && share > most {
				next, most = i, share
			}
		}
		taken[next]++
	}
	var chosen []int
	for i, v := range values {
		chosen = append(chosen, groups[v][:taken[i]]...)
	}
	slices.Sort(chosen)
	kept := make([]datasets.Case, len(chosen))
	for i, c := range chosen {
		kept[i] = cases[c]
	}
	return kept
}

// commonSplit is the split that all cases are of, or "".
func commonSplit(cases []datasets.Case) string {
	if len(cases) == 0 || slices.ContainsFunc(cases, func(c datasets.Case) bool { return c.Split != cases[0].Split }) {
		return ""
	}
	return cases[0].Split
}
