package indexes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"frontier/internal/param"
	"frontier/internal/vector"
)

const savedName = "index.json"

// Saved says what a folder written by Build holds, so that Load refuses an index of other data or another metric
// instead of answering wrongly.
type Saved struct {
	Engine string        `json:"engine"`
	Rows   int           `json:"rows"`
	Dim    int           `json:"dim,omitempty"`
	Metric vector.Metric `json:"metric,omitempty"`
	Params string        `json:"params"`          // canonical
	Bytes  int64         `json:"bytes,omitempty"` // of the file that the library wrote
}

// NewSaved describes an index of the vectors of in.
func NewSaved(engine string, in Input, build param.Values, bytes int64) Saved {
	return Saved{
		Engine: engine, Rows: in.Vectors.Len(), Dim: in.Vectors.Dim(), Metric: in.Metric,
		Params: canonical(build), Bytes: bytes,
	}
}

// canonical makes no difference between no parameters and none given.
func canonical(build param.Values) string {
	if len(build) == 0 {
		return "{}"
	}
	return build.Canonical()
}

// Write puts s into dir. Build calls it last, so that a folder without it holds an unfinished index.
func (s Saved) Write(dir string) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, savedName), append(raw, '\n'), 0o644)
}

// ReadSaved reads what Write wrote and checks that it is an index of the engine, built with the parameters, and, where
// in has vectors, of as many rows of the same dimension and metric.
func ReadSaved(dir, engine string, in Input, build param.Values) (Saved, error) {
	path := filepath.Join(dir, savedName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Saved{}, fmt.Errorf("%s: the folder holds no finished index; build it again: %w", dir, err)
	}
	if err != nil {
		return Saved{}, err
	}
	var s Saved
	if err := json.Unmarshal(raw, &s); err != nil {
		return Saved{}, fmt.Errorf("%s: not the description of an index; build it again: %w", path, err)
	}
	if s.Engine != engine {
		return Saved{}, fmt.Errorf("%s: holds an index of %s, not of %s", path, s.Engine, engine)
	}
	if params := canonical(build); s.Params != params {
		return Saved{}, fmt.Errorf("%s: was built with the parameters %s, not %s", path, s.Params, params)
	}
	if in.Metric != "" && s.Metric != "" && in.Metric != s.Metric {
		return Saved{}, fmt.Errorf("%s: was built for the metric %s, not %s", path, s.Metric, in.Metric)
	}
	if v := in.Vectors; v != nil && s.Metric != "" && (v.Len() != s.Rows || v.Dim() != s.Dim) {
		return Saved{}, fmt.Errorf("%s: was built from %d rows of %d, not from %d of %d", path, s.Rows, s.Dim, v.Len(), v.Dim())
	}
	return s, nil
}

// CheckFile refuses a file that is not of the size that was written: a full disk, or a copy cut short.
func CheckFile(path string, bytes int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() != bytes {
		return fmt.Errorf("%s: has %d bytes and should have %d; is the disk full, or was it cut short? build it again", path, info.Size(), bytes)
	}
	return nil
}
