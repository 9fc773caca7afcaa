package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"frontier/results"
	"frontier/results/ab"
)

// ReadAB reads what frontier ab wrote as JSON.
func ReadAB(path string) (*ab.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the result of ab: %w", err)
	}
	defer f.Close()
	r, err := ab.ReadJSON(f)
	if err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s: byte offset %d: %w; write the file with frontier ab --format json", path, syntax.Offset, err)
		}
		return nil, fmt.Errorf("%s: %w; write the file with frontier ab --format json", path, err)
	}
	return r, nil
}

// MatchAB takes both sides and their pairs from a result of frontier ab. There are no questions in it, so metrics have no
// slices.
func MatchAB(path string, r *ab.Result) *Matching {
	m := &Matching{
		Base:    &Side{Name: path + " (base " + r.Base.File + ")", index: map[string]int{}, Warnings: r.Warnings},
		New:     &Side{Name: path + " (new " + r.New.File + ")", index: map[string]int{}},
		Columns: r.Match,
	}
	m.Base.Points, m.New.Points = make([]Point, len(r.Points)), make([]Point, len(r.Points))
	for i := range r.Points {
		p := &r.Points[i]
		key := results.Row{}
		for name, v := range p.Key {
			key[name] = columnValue(name, v)
		}
		for number, side := range []*Side{m.Base, m.New} {
			row := results.Row{"run_id": []string{"base", "new"}[number], "point_id": []string{p.Base, p.New}[number], "status": "ok", "machine_digest": r.Machine}
			if p.Error != "" {
				row["status"], row["error"] = "failed", p.Error
			}
			for name, v := range key {
				row[name] = v
			}
			for name, v := range p.Changed {
				if v := columnValue(name, v[number]); v != nil {
					row[name] = v
				}
			}
			estimates := map[string]Estimate{}
			for _, metric := range p.Metrics {
				e := Estimate{metric.Base, orNaN(metric.BaseLow), orNaN(metric.BaseHigh)}
				if number == 1 {
					e = Estimate{metric.New, orNaN(metric.NewLow), orNaN(metric.NewHigh)}
				}
				estimates[metric.Name] = e
			}
			side.Points[i] = Point{Row: row, estimates: estimates}
		}
		label := describe(key, sortedKeys(key))
		if label == "" {
			label = p.Name()
		}
		m.Pairs = append(m.Pairs, Pair{Label: label, Key: key, Base: &m.Base.Points[i], New: &m.New.Points[i], measured: p, confidence: r.Confidence})
	}
	return m
}

// AttachAB lets a result of frontier ab decide on the times, rates and memory of the points that it measured too, for it
// tells from noise what two runs one after the other cannot. The warnings name what belongs to no point.
func (m *Matching) AttachAB(r *ab.Result) (warnings []string) {
	for i := range r.Points {
		p := &r.Points[i]
		var found []int
		for j, pair := range m.Pairs {
			if pair.Base != nil && pair.New != nil && belongs(p, pair) {
				found = append(found, j)
			}
		}
		switch {
		case p.Error != "":
			warnings = append(warnings, fmt.Sprintf("ab could not compare %s: %s", p.Name(), p.Error))
		case len(found) != 1:
			warnings = append(warnings, fmt.Sprintf("ab's point %s is %d points of BASE and NEW, so it decides on none", p.Name(), len(found)))
		default:
			m.Pairs[found[0]].measured, m.Pairs[found[0]].confidence = p, r.Confidence
		}
	}
	return warnings
}

// belongs says whether ab's point is this pair: whatever it tells of the two is so.
func belongs(p *ab.Point, pair Pair) bool {
	for name, v := range p.Key {
		v = columnValue(name, v)
		if show(v) != show(pair.Base.Row[name]) || show(v) != show(pair.New.Row[name]) {
			return false
		}
	}
	for name, v := range p.Changed {
		if show(columnValue(name, v[0])) != show(pair.Base.Row[name]) || show(columnValue(name, v[1])) != show(pair.New.Row[name]) {
			return false
		}
	}
	return true
}

// columnValue is a value from JSON, where all numbers are alike, as the column has it.
func columnValue(name string, v any) any {
	f, ok := v.(float64)
	if c, known := results.Lookup(name); ok && known && c.Type == results.Int {
		return int64(f)
	}
	return v
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// byAB is what ab found, if it measured the metric: all metrics where there is nothing but ab, else those that depend on
// the machine.
func (p Pair) byAB(metric Metric) *Difference {
	if p.measured == nil || !(metric.MachineBound() || p.Base.values == nil) {
		return nil
	}
	for i := range p.measured.Metrics {
		m := &p.measured.Metrics[i]
		if m.Name != metric.Name {
			continue
		}
		d := &Difference{
			Metric: metric, Method: ByBlock, Base: m.Base, New: m.New, Relative: m.Relative, Change: m.Change, Confidence: p.confidence,
			Low: orNaN(m.Low), High: orNaN(m.High), P: orNaN(m.P), Cases: p.measured.Pairs,
		}
		if m.Low == nil && m.High == nil && metric.Column.Exact {
			d.Method, d.Low, d.High = Exactly, m.Change, m.Change
		}
		return d
	}
	return nil
}
