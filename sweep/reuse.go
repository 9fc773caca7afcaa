package sweep

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"frontier/results"
)

// explainReuse says why measurements that the results folder holds do not count for this sweep: what was changed since
// they were made. What was measured stays in parts/ and counts again when the change is taken back.
func (r *runner) explainReuse(store *store, cells []*cellPlan) {
	wanted := map[string]bool{}
	for _, c := range cells {
		for _, p := range c.points {
			wanted[p.id] = true
		}
	}
	unused := 0
	for id := range store.have {
		if !wanted[id] {
			unused++
		}
	}
	if unused == 0 {
		return
	}
	changes := r.changes(store)
	if len(changes) == 0 {
		r.warn(fmt.Sprintf("%d measured points of %s are not among those that the sweep file asks for now; they stay in parts/", unused, store.dir))
		return
	}
	r.warn(fmt.Sprintf("%d measured points of %s are of no use any more, since %s; they stay in parts/", unused, store.dir, strings.Join(changes, ", ")))
}

// changes are the differences between the last run in the folder and this one that make points different ones.
func (r *runner) changes(store *store) []string {
	old, err := results.ReadManifest(store.dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return []string{fmt.Sprintf("its manifest cannot be read (%v)", err)}
	}
	now := r.manifest(nil, nil, false)
	var changes []string
	changed := func(what string, before, after any) {
		if b, a := fmt.Sprint(before), fmt.Sprint(after); b != a {
			changes = append(changes, fmt.Sprintf("%s was %s and is %s", what, b, a))
		}
	}
	changed("the seed", old.Seed, now.Seed)
	changed("build_threads", old.BuildThreads, now.BuildThreads)
	changed("measure.k", old.K, now.K)
	changed("measure.depth", old.Depth, now.Depth)
	changed("measure.unit", old.Unit, now.Unit)
	changed("measure.evidence", old.EvidenceRule, now.EvidenceRule)
	changed("measure.relevance_min", old.RelevanceMin, now.RelevanceMin)
	changed("measure.context_tokens", old.ContextTokens, now.ContextTokens)
	changed("measure.withheld_max", old.WithheldMax, now.WithheldMax)
	changed("the choice of questions", subsetRule(old), subsetRule(now))
	changed("dataset.title", old.TitleMode, now.TitleMode)
	if old.Protocol != now.Protocol {
		changes = append(changes, "how long and how often points are measured was changed")
	}
	for _, name := range sortedNames(old.Digests, now.Digests) {
		if old.Digests[name] != now.Digests[name] {
			changes = append(changes, "the content of "+name+" was changed")
		}
	}
	for _, name := range sortedNames(old.Engines, nil) {
		for _, e := range r.opt.Registry.Engines {
			if e.Name == name && e.Absent == "" {
				changed("the version of "+name, old.Engines[name], e.Version())
			}
		}
	}
	changed("the version of the scorer", old.ScorerVersion, now.ScorerVersion)
	changed("the instruction set", old.Machine["instruction_set"], now.Machine["instruction_set"])
	return changes
}

func subsetRule(m *results.Manifest) string {
	if m.Subset == nil {
		return "all of them"
	}
	return m.Subset.Rule
}

func sortedNames(a, b map[string]string) []string {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
