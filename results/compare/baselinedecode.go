package compare

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"frontier/results"
)

// maxBaseline bounds a baseline file, unpacked: far above what a repository wants to hold.
const maxBaseline = 256 << 20

// readBaseline reads what Record wrote.
func readBaseline(path string) (*Side, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	defer f.Close()
	s, err := decodeBaseline(f, strings.HasSuffix(path, ".gz"))
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; record it again with frontier gate --record", path, err)
	}
	s.Name = path
	return s, nil
}

func decodeBaseline(r io.Reader, packed bool) (*Side, error) {
	if packed {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("it is not gzip: %w", err)
		}
		r = z
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxBaseline+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBaseline {
		return nil, fmt.Errorf("it has more than %d MiB", maxBaseline>>20)
	}
	var b baseline
	if err := json.Unmarshal(raw, &b); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("byte offset %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	if b.Format != baselineFormat {
		return nil, fmt.Errorf("its format is %q and not %q", b.Format, baselineFormat)
	}
	return b.side()
}

func (b *baseline) side() (*Side, error) {
	// Each point has a line in every metric, so a file cannot claim more of them than it holds.
	for _, name := range b.Metrics {
		if len(b.Values[name]) != b.Points {
			return nil, fmt.Errorf("%s has %d values for %d points", name, len(b.Values[name]), b.Points)
		}
	}
	if b.Points < 1 || len(b.Metrics) == 0 {
		return nil, fmt.Errorf("it holds %d points and %d metrics", b.Points, len(b.Metrics))
	}
	s := &Side{Points: make([]Point, b.Points), recorded: b.Metrics, index: map[string]int{}}
	for i := range s.Points {
		s.Points[i] = Point{Row: results.Row{"status": "ok"}, values: map[string][]float64{}, estimates: map[string]Estimate{}}
	}
	for _, name := range sortedKeys(b.Columns) {
		c := b.Columns[name]
		if err := c.each(b.Points, func(i int, v any) { s.Points[i].Row[name] = v }); err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
	}
	for i := range s.Points {
		if err := s.Points[i].Row.Check(); err != nil {
			return nil, err
		}
	}
	for _, name := range b.Metrics {
		for i, n := range b.Values[name] {
			if len(n) == 0 || n[0] == nil {
				continue
			}
			e := Estimate{*n[0], math.NaN(), math.NaN()}
			if len(n) == 3 && n[1] != nil && n[2] != nil {
				e.Low, e.High = *n[1], *n[2]
			}
			s.Points[i].estimates[name] = e
		}
	}
	if err := b.cases(s); err != nil {
		return nil, err
	}
	if len(b.Manifest) > 0 {
		var m results.Manifest
		if err := json.Unmarshal(b.Manifest, &m); err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		s.Sources = []results.Source{{Manifest: &m}}
	}
	return s, nil
}

func (b *baseline) cases(s *Side) error {
	for i, id := range b.Cases.IDs {
		if _, twice := s.index[id]; twice {
			return fmt.Errorf("the question %q is there twice", id)
		}
		s.index[id] = i
		s.Cases = append(s.Cases, Case{ID: id, Fields: map[string]string{}})
	}
	for name, c := range b.Cases.Fields {
		if c.Type != "string" {
			return fmt.Errorf("field %s of questions is of type %q", name, c.Type)
		}
		if err := c.each(len(s.Cases), func(i int, v any) { s.Cases[i].Fields[name] = v.(string) }); err != nil {
			return fmt.Errorf("field %s of questions: %w", name, err)
		}
	}
	if n := len(b.Cases.Tags); n > 0 && n != len(s.Cases) {
		return fmt.Errorf("%d lists of tags for %d questions", n, len(s.Cases))
	}
	for i, tags := range b.Cases.Tags {
		s.Cases[i].Tags = tags
	}
	for name, x := range b.PerCase {
		if err := x.decode(s, name); err != nil {
			return fmt.Errorf("questions' %s: %w", name, err)
		}
	}
	return nil
}

// each gives the values that are not null.
func (c *coded) each(rows int, set func(row int, v any)) error {
	values := make([]any, len(c.Values))
	for i, raw := range c.Values {
		var err error
		switch c.Type {
		case "string":
			values[i], err = decodeAs[string](raw)
		case "int":
			values[i], err = decodeAs[int64](raw)
		case "float":
			values[i], err = decodeAs[float64](raw)
		case "bool":
			values[i], err = decodeAs[bool](raw)
		default:
			return fmt.Errorf("unknown type %q", c.Type)
		}
		if err != nil {
			return err
		}
	}
	if c.Rows == nil && len(values) == 1 {
		for i := range rows {
			set(i, values[0])
		}
		return nil
	}
	if len(c.Rows) != rows {
		return fmt.Errorf("%d values for %d", len(c.Rows), rows)
	}
	for i, number := range c.Rows {
		if number < 0 || number > len(values) {
			return fmt.Errorf("row %d has value number %d of %d", i, number, len(values))
		}
		if number > 0 {
			set(i, values[number-1])
		}
	}
	return nil
}

func decodeAs[T any](raw []byte) (any, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}

func (x *matrix) decode(s *Side, metric string) error {
	if len(s.Cases) > maxBaseline/len(s.Points) {
		return fmt.Errorf("%d questions at %d points are too many", len(s.Cases), len(s.Points))
	}
	want := 4 * len(s.Cases) * len(s.Points)
	numbers, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(x.Numbers)), int64(want)+1))
	if err != nil {
		return err
	}
	if len(numbers) != want {
		return fmt.Errorf("%d bytes for %d questions at %d points", len(numbers), len(s.Cases), len(s.Points))
	}
	for p := range s.Points {
		column := make([]float64, len(s.Cases))
		some := false
		for i := range column {
			number := binary.LittleEndian.Uint32(numbers[4*(i*len(s.Points)+p):])
			switch {
			case number == 0:
				column[i] = math.NaN()
			case int(number) > len(x.Values):
				return fmt.Errorf("value number %d of %d", number, len(x.Values))
			default:
				column[i], some = x.Values[number-1], true
			}
		}
		if some {
			s.Points[p].values[metric] = column
		}
	}
	return nil
}
