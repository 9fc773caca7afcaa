package compare

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"frontier/internal/atomicfile"
)

// baselineFormat names the form of a baseline file, and its version.
const baselineFormat = "frontier-baseline/1"

// baseline is a run cut down to what a policy needs, as JSON. Values are exact: each metric has the list of its distinct
// values, and where they stand as numbers in that list.
type baseline struct {
	Format   string                `json:"format"`
	Recorded string                `json:"recorded_from"`
	Metrics  []string              `json:"metrics"`
	Points   int                   `json:"points"`
	Columns  map[string]coded      `json:"columns"`
	Values   map[string][]measured `json:"values"` // by metric, one for each point: value, low, high
	Cases    caseTable             `json:"cases"`
	PerCase  map[string]matrix     `json:"per_case"` // by metric
	Manifest json.RawMessage       `json:"manifest,omitempty"`
}

// coded is a column of strings, integers, floats or booleans: its distinct values, and for each row which of them, from
// 1; 0 is null. Rows are left out where all are the first value.
type coded struct {
	Type   string            `json:"type"`
	Values []json.RawMessage `json:"values"`
	Rows   []int             `json:"rows,omitempty"`
}

// measured is a value and its interval; null for what is not there.
type measured []*float64

type caseTable struct {
	IDs    []string         `json:"ids"`
	Fields map[string]coded `json:"fields,omitempty"`
	Tags   [][]string       `json:"tags,omitempty"`
}

// matrix is the values of questions x points of one metric. Numbers are the places in Values, from 1 and 0 for null, of
// all points for the first question, then for the second: little-endian uint32, deflated, in base64.
type matrix struct {
	Values  []float64 `json:"values"`
	Numbers []byte    `json:"numbers"`
}

// IsBaseline says whether the name is one of a baseline file.
func IsBaseline(path string) bool {
	return strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".json.gz")
}

// Record writes what comparing these metrics needs of the side's measured points to path, which ends in .json or
// .json.gz. Values are kept exactly. Of equal sides the files are equal byte by byte.
func Record(path string, s *Side, metrics []Metric) error {
	if !IsBaseline(path) {
		return fmt.Errorf("write the baseline: %s ends neither in .json nor in .json.gz", path)
	}
	raw, err := encodeBaseline(s, metrics).text()
	if err != nil {
		return fmt.Errorf("write the baseline %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			_, err := w.Write(raw)
			return err
		}
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = z.Write(raw)
		return errors.Join(err, z.Close())
	})
}

// text is the JSON with a line for each column and metric, so that versions of a baseline can be told apart line by line.
func (b *baseline) text() ([]byte, error) {
	var out bytes.Buffer
	separator := "{"
	put := func(key string, v any) error {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s\n%q: %s", separator, key, raw)
		separator = ","
		return nil
	}
	lines := func(key string, keys []string, value func(string) any) error {
		fmt.Fprintf(&out, "%s\n%q: ", separator, key)
		separator = "{"
		for _, k := range keys {
			if err := put(k, value(k)); err != nil {
				return err
			}
		}
		if len(keys) == 0 {
			out.WriteByte('{')
		}
		out.WriteString("}")
		separator = ","
		return nil
	}
	err := errors.Join(
		put("format", b.Format), put("recorded_from", b.Recorded), put("metrics", b.Metrics), put("points", b.Points),
		lines("columns", sortedKeys(b.Columns), func(k string) any { return b.Columns[k] }),
		lines("values", sortedKeys(b.Values), func(k string) any { return b.Values[k] }),
		put("cases", b.Cases),
		lines("per_case", sortedKeys(b.PerCase), func(k string) any { return b.PerCase[k] }),
	)
	if len(b.Manifest) > 0 {
		err = errors.Join(err, put("manifest", b.Manifest))
	}
	out.WriteString("}\n")
	return out.Bytes(), err
}
