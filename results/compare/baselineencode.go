package compare

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"frontier/results"
)

// recordedColumns are those that matching and residue may need.
func recordedColumns() []string {
	var names []string
	for _, c := range results.Columns() {
		if kindOf(c.Name) != "" || c.Name == "run_id" || c.Name == "point_id" || c.Name == "status" || c.Name == "name" || c.Name == "noise" {
			names = append(names, c.Name)
		}
	}
	return names
}

func encodeBaseline(s *Side, metrics []Metric) *baseline {
	b := &baseline{Format: baselineFormat, Columns: map[string]coded{}, Values: map[string][]measured{}, PerCase: map[string]matrix{}}
	var points []*Point
	for i := range s.Points {
		if !failed(s.Points[i].Row) {
			points = append(points, &s.Points[i])
		}
	}
	b.Points = len(points)
	b.Recorded = filepath.Base(filepath.Clean(s.Name))
	for _, name := range recordedColumns() {
		values := make([]any, len(points))
		for i, p := range points {
			values[i] = p.Row[name]
		}
		if c, ok := encodeColumn(values); ok {
			b.Columns[name] = c
		}
	}
	order := make([]int, len(s.Cases))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(s.Cases[i].ID, s.Cases[j].ID) })
	for _, m := range metrics {
		b.Metrics = append(b.Metrics, m.Name)
		var all []measured
		for _, p := range points {
			var n measured
			if e, ok := p.Estimate(m); ok {
				n = measured{&e.Value}
				if e.HasInterval() {
					n = append(n, &e.Low, &e.High)
				}
			}
			all = append(all, n)
		}
		b.Values[m.Name] = all
		if x, ok := encodeMatrix(points, order, m.Name); ok {
			b.PerCase[m.Name] = x
		}
	}
	slices.Sort(b.Metrics)
	if len(b.PerCase) > 0 {
		b.Cases = encodeCases(s, order)
	}
	if len(s.Sources) == 1 {
		b.Manifest = shortManifest(s.Sources[0].Manifest)
	}
	return b
}

// shortManifest is what runResidue compares.
func shortManifest(m *results.Manifest) json.RawMessage {
	raw, err := json.Marshal(results.Manifest{
		Version: m.Version, RunID: m.RunID, Name: m.Name, Started: m.Started, Seed: m.Seed, Dataset: m.Dataset, Digests: m.Digests, Queries: m.Queries, Answerable: m.Answerable,
		K: m.K, Unit: m.Unit, Depth: m.Depth, AggregationRule: m.AggregationRule, Protocol: m.Protocol, ScorerVersion: m.ScorerVersion, Frontier: m.Frontier,
	})
	if err != nil { // a manifest that was read can be written
		return nil
	}
	return raw
}

// encodeColumn is not ok where all values are null.
func encodeColumn(values []any) (coded, bool) {
	c := coded{Rows: make([]int, len(values))}
	at := map[string]int{}
	for i, v := range values {
		if v == nil {
			continue
		}
		switch v.(type) {
		case string:
			c.Type = "string"
		case int64:
			c.Type = "int"
		case float64:
			c.Type = "float"
		case bool:
			c.Type = "bool"
		default:
			return coded{}, false // no parameter is of another type
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return coded{}, false
		}
		if at[string(raw)] == 0 {
			c.Values = append(c.Values, raw)
			at[string(raw)] = len(c.Values)
		}
		c.Rows[i] = at[string(raw)]
	}
	if len(c.Values) == 1 && !slices.Contains(c.Rows, 0) {
		c.Rows = nil
	}
	return c, len(c.Values) > 0
}

func encodeCases(s *Side, order []int) caseTable {
	var t caseTable
	tagged := false
	for _, i := range order {
		t.IDs = append(t.IDs, s.Cases[i].ID)
		tagged = tagged || len(s.Cases[i].Tags) > 0
	}
	for _, name := range s.fields() {
		if name == "tags" {
			continue
		}
		values := make([]any, len(order))
		for at, i := range order {
			if v, ok := s.Cases[i].Fields[name]; ok {
				values[at] = v
			}
		}
		if c, ok := encodeColumn(values); ok {
			if t.Fields == nil {
				t.Fields = map[string]coded{}
			}
			t.Fields[name] = c
		}
	}
	if tagged {
		for _, i := range order {
			t.Tags = append(t.Tags, s.Cases[i].Tags)
		}
	}
	return t
}

// encodeMatrix is not ok where no point has values of single questions.
func encodeMatrix(points []*Point, order []int, metric string) (matrix, bool) {
	var x matrix
	distinct := map[float64]bool{}
	for _, p := range points {
		for _, v := range p.values[metric] {
			if !math.IsNaN(v) {
				distinct[v] = true
			}
		}
	}
	if len(distinct) == 0 {
		return x, false
	}
	for v := range distinct {
		x.Values = append(x.Values, v)
	}
	slices.Sort(x.Values)
	at := map[float64]uint32{}
	for i, v := range x.Values {
		at[v] = uint32(i + 1)
	}
	numbers := make([]byte, 0, 4*len(order)*len(points))
	for _, i := range order {
		for _, p := range points {
			number := uint32(0)
			if column := p.values[metric]; i < len(column) && !math.IsNaN(column[i]) {
				number = at[column[i]]
			}
			numbers = binary.LittleEndian.AppendUint32(numbers, number)
		}
	}
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, flate.BestCompression) // the level is one that exists, and a buffer takes everything
	z.Write(numbers)
	z.Close()
	x.Numbers = packed.Bytes()
	return x, true
}
