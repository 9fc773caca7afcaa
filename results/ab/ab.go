// Package ab is what a comparison of two variants on one machine comes to: points in pairs, and for each metric a
// decision. It is written by "frontier ab" and read by the gate.
package ab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"frontier/bench/stats"
)

// Version is that of the JSON form. It rises when a field changes its meaning or goes.
const Version = 1

// Result is one run of ab.
type Result struct {
	Version    int       `json:"version"`
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"seconds"` // measuring, without preparing
	Base       Side      `json:"base"`
	New        Side      `json:"new"`
	Machine    string    `json:"machine_digest"`
	CPU        string    `json:"cpu"`
	Confidence float64   `json:"confidence"` // of the whole run: at most 1-Confidence of runs of equals call anything better or worse
	Pairs      int       `json:"pairs"`      // blocks of each side, for each point, at least
	Block      float64   `json:"block_seconds"`
	Match      []string  `json:"match"` // columns by which points were paired
	Points     []Point   `json:"points"`
	// Unmatched are points of one side that the other has none for.
	Unmatched []string `json:"unmatched"`
	Warnings  []string `json:"warnings"`
}

// Side is one of the two variants.
type Side struct {
	File   string `json:"file"`
	Binary string `json:"binary,omitempty"` // where binaries are compared
	Digest string `json:"digest,omitempty"` // of the binary
}

// Point is one pair of points.
type Point struct {
	Base    string            `json:"base_point_id"`
	New     string            `json:"new_point_id"`
	Key     map[string]any    `json:"key"`     // the columns of Match
	Changed map[string][2]any `json:"changed"` // columns in which the two differ: base and new
	Metrics []Metric          `json:"metrics"`
	Pairs   int               `json:"pairs"`         // that count
	Noisy   int               `json:"noisy_pairs"`   // of them, those during which the machine was disturbed
	Queries int               `json:"block_queries"` // of one block
	Seconds float64           `json:"seconds"`
	Error   string            `json:"error,omitempty"` // why it was not compared
}

// Metric is what the comparison of one metric came to. Base and New are its values, in base units. Change is new over
// base less one if Relative, else new less base, with the interval from Low to High.
type Metric struct {
	Name     string         `json:"metric"`
	Base     float64        `json:"base"`
	New      float64        `json:"new"`
	BaseLow  *float64       `json:"base_low"` // 95% interval of Base, where there is one
	BaseHigh *float64       `json:"base_high"`
	NewLow   *float64       `json:"new_low"`
	NewHigh  *float64       `json:"new_high"`
	Relative bool           `json:"relative"`
	Change   float64        `json:"change"`
	Low      *float64       `json:"low"` // nil for what is exact
	High     *float64       `json:"high"`
	P        *float64       `json:"p"` // corrected for the number of decisions of the run
	Margin   float64        `json:"margin"`
	Decision stats.Decision `json:"decision"`
}

// Count is how many decisions of each kind there are.
func (r *Result) Count() map[stats.Decision]int {
	n := map[stats.Decision]int{}
	for _, p := range r.Points {
		for _, m := range p.Metrics {
			n[m.Decision]++
		}
	}
	return n
}

// Failed is how many pairs of points could not be compared.
func (r *Result) Failed() int {
	n := 0
	for _, p := range r.Points {
		if p.Error != "" {
			n++
		}
	}
	return n
}

// WriteJSON writes r as JSON.
func (r *Result) WriteJSON(w io.Writer) error {
	r.Version = Version
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// ReadJSON reads what WriteJSON wrote. It refuses other versions and what is no result of ab.
func ReadJSON(in io.Reader) (*Result, error) {
	r := &Result{}
	d := json.NewDecoder(in)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("read a result of ab: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read a result of ab: something follows it")
	}
	if r.Version != Version {
		return nil, fmt.Errorf("read a result of ab: it has version %d, and this is version %d; run ab again with this binary", r.Version, Version)
	}
	for i, p := range r.Points {
		for _, m := range p.Metrics {
			switch m.Decision {
			case stats.Better, stats.Same, stats.Worse, stats.Inconclusive:
			default:
				return nil, fmt.Errorf("read a result of ab: point %d: %s has the decision %q, which there is not", i, m.Name, m.Decision)
			}
		}
	}
	return r, nil
}

// Finite is v, or nil if it is not finite: JSON has no such numbers.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
