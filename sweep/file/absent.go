package file

import (
	"fmt"
	"slices"

	"frontier/indexes"
)

// DropAbsent removes the indexes that need an engine which this binary lacks, hybrids with such a part among them, and
// returns one warning for each, with its place and how to get the engine. Indexes may be empty afterwards.
func (f *File) DropAbsent(reg Registry) []string {
	var warnings []string
	i := -1
	f.Indexes = slices.DeleteFunc(f.Indexes, func(ix Index) bool {
		i++
		engine := absentEngine(ix, reg)
		if engine == nil {
			return false
		}
		what := ix.Engine
		if what != engine.Name {
			what = fmt.Sprintf("%s of %s", what, engine.Name)
		}
		warnings = append(warnings, f.At(ix.Pos, fmt.Sprintf("indexes[%d]", i), what+" is left out: this binary has no "+engine.Name, engine.Absent).Error())
		return true
	})
	return warnings
}

// absentEngine is the engine that an entry needs and that is absent, or nil.
func absentEngine(ix Index, reg Registry) *indexes.Engine {
	if e := indexes.Find(reg.Engines, ix.Engine); e != nil && e.Absent != "" {
		return e
	}
	for _, part := range ix.Parts {
		if e := absentEngine(part, reg); e != nil {
			return e
		}
	}
	return nil
}
