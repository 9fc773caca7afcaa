package compare

import (
	"fmt"
	"slices"

	"frontier/results"
)

// Metric is a column that can be compared: a number that is better one way.
type Metric struct {
	Name   string
	Column results.Column
}

// LookupMetric is the metric of that name. The error says what it could have meant.
func LookupMetric(name string) (Metric, error) {
	if err := results.CheckColumns([]string{name}); err != nil {
		return Metric{}, err
	}
	c, _ := results.Lookup(name)
	switch {
	case c.Better == results.None:
		return Metric{}, fmt.Errorf("%q is neither better high nor better low, so it cannot be compared", name)
	case c.Type != results.Int && c.Type != results.Float:
		return Metric{}, fmt.Errorf("%q is not one number but of type %s, so it cannot be compared", name, c.Type)
	}
	return Metric{name, c}, nil
}

// Higher says that more is better.
func (m Metric) Higher() bool { return m.Column.Better == results.Higher }

// PerQuery says that it is a mean over questions, whose values are in queries/.
func (m Metric) PerQuery() bool { return results.PerQuery(m.Name) }

// Quality says that it depends on what answers are held against.
func (m Metric) Quality() bool {
	return slices.Contains([]string{"quality", "ann", "spans", "context", "loss", "abstention", "filter"}, m.Column.Group)
}

// Counted says that it counts what happened in the run, such as failed questions.
func (m Metric) Counted() bool {
	return !m.Column.Exact && m.Column.Type == results.Int && m.Column.Unit == "queries"
}

// MachineBound says that another machine gives another value.
func (m Metric) MachineBound() bool { return !m.Column.Exact && !m.Counted() }

// Relative says that changes of it are told as a share of what was before: those of times, rates, sizes and costs. The
// others are shares themselves, and their changes are differences.
func (m Metric) Relative() bool {
	return m.Column.Unit != "fraction" && m.Column.Unit != "" && !m.Counted()
}
