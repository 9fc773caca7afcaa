package filters

import (
	"fmt"
	"math"

	"frontier/bench/rate"
)

// Limits are what a predicate has to keep to be used as a hard filter. All are shares in [0,1].
type Limits struct {
	MinGain           float64 // delta_min: precision that it must gain, at least
	MaxFalseExclusion float64 // epsilon
	MaxRecallLost     float64
}

// Validate refuses limits that are no shares.
func (l Limits) Validate() error {
	for _, limit := range []struct {
		name  string
		value float64
	}{{"the least gain of precision", l.MinGain}, {"the greatest false-exclusion rate", l.MaxFalseExclusion}, {"the greatest loss of recall", l.MaxRecallLost}} {
		if !(limit.value >= 0 && limit.value <= 1) {
			return fmt.Errorf("hard or soft filter: %s is %v; it must be from 0 to 1", limit.name, limit.value)
		}
	}
	return nil
}

// Measured is what is known of a predicate.
type Measured struct {
	GainLow        float64   // lower end of the interval of the paired gain of precision, with the predicate less without
	FalseExclusion rate.Rate // see Tally
	RecallLost     float64   // recall of the eligible gold, without the predicate less with it
}

// Decision is whether to use a predicate as a hard filter. Otherwise it is a soft boost at most.
type Decision struct {
	Hard    bool
	Reasons []string // what speaks against a hard filter; empty if Hard
}

// Decide takes a predicate for a hard filter only if the lower end of its gain of precision is at least MinGain, its
// false-exclusion rate at most MaxFalseExclusion, and the recall lost at most MaxRecallLost. What was not measured, as no
// query has eligible gold, is an error and no decision.
func (l Limits) Decide(m Measured) (Decision, error) {
	if err := l.Validate(); err != nil {
		return Decision{}, err
	}
	excluded, err := m.FalseExclusion.Value()
	if err != nil {
		return Decision{}, fmt.Errorf("hard or soft filter: the false-exclusion rate: %w", err)
	}
	if math.IsNaN(m.GainLow) || math.IsNaN(m.RecallLost) {
		return Decision{}, fmt.Errorf("hard or soft filter: the gain of precision is at least %v and the recall lost %v: measure both, with an interval of the first", m.GainLow, m.RecallLost)
	}
	var d Decision
	if m.GainLow < l.MinGain {
		d.Reasons = append(d.Reasons, fmt.Sprintf("the gain of precision may be as low as %+.3f, and at least %.3f is asked for", m.GainLow, l.MinGain))
	}
	if excluded > l.MaxFalseExclusion {
		d.Reasons = append(d.Reasons, fmt.Sprintf("it excludes all eligible gold of %v queries (%.3f), and at most %.3f is allowed", m.FalseExclusion, excluded, l.MaxFalseExclusion))
	}
	if m.RecallLost > l.MaxRecallLost {
		d.Reasons = append(d.Reasons, fmt.Sprintf("it loses %.3f of recall, and at most %.3f is allowed", m.RecallLost, l.MaxRecallLost))
	}
	d.Hard = len(d.Reasons) == 0
	return d, nil
}
