package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"frontier/internal/atomicfile"
)

// ManifestFile is the name of the manifest in a results folder.
const ManifestFile = "manifest.json"

// Manifest describes one run: what a reader of its rows must know to judge them or to repeat them. It holds no
// secrets, for the sweep file's are never expanded into it.
type Manifest struct {
	Version int    `json:"version"` // of the form of this file: 1
	RunID   string `json:"run_id"`
	Name    string `json:"name,omitempty"`
	// Hypothesis is what the sweep is to find out, as its file says.
	Hypothesis string     `json:"hypothesis,omitempty"`
	Started    time.Time  `json:"started"`
	Finished   *time.Time `json:"finished,omitempty"` // nil while the run goes on, and after it was killed

	Sweep        string `json:"sweep"`                // the effective sweep file, defaults filled in
	SweepFile    string `json:"sweep_file,omitempty"` // where it was, for the paths in it
	Seed         uint64 `json:"seed"`
	BuildThreads int    `json:"build_threads,omitempty"`

	Dataset         string            `json:"dataset"`
	Digests         map[string]string `json:"digests,omitempty"` // of corpus, queries, qrels, base, ...
	Queries         int               `json:"queries"`
	Subset          *Subset           `json:"subset,omitempty"`             // nil if all questions were asked
	Answerable      int               `json:"queries_answerable,omitempty"` // 0 without judgements
	K               []int             `json:"k"`
	Unit            string            `json:"unit,omitempty"`
	Depth           int               `json:"depth"`
	TitleMode       string            `json:"title_mode,omitempty"`
	EvidenceRule    string            `json:"evidence_rule,omitempty"`
	RelevanceMin    int               `json:"relevance_min,omitempty"`
	ContextTokens   int               `json:"context_tokens,omitempty"` // budget of the context that was scored; 0 without one
	WithheldMax     float64           `json:"withheld_max,omitempty"`   // share of answerable questions that a threshold might withhold
	AggregationRule string            `json:"aggregation_rule"`         // how queries become one number, in a sentence
	Protocol        string            `json:"protocol"`                 // how latency was measured, in two sentences at most
	ScorerVersion   string            `json:"scorer_version"`

	Frontier    string            `json:"frontier_version,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"` // name to version
	Machine     map[string]string `json:"machine,omitempty"` // the fingerprint
	Objectives  []string          `json:"objectives,omitempty"`
	Assumptions []string          `json:"cost_assumptions,omitempty"`

	Plan     map[string]int `json:"plan,omitempty"` // stages, cells, points, ...
	Warnings []string       `json:"warnings,omitempty"`
	Failures []Failure      `json:"failures,omitempty"`
}

// Subset says which questions of a golden set were asked.
type Subset struct {
	Rule   string   `json:"rule"` // as the sweep file has it
	Cases  int      `json:"cases"`
	Of     int      `json:"of"`
	Digest string   `json:"digest"`        // over their ids
	IDs    []string `json:"ids,omitempty"` // up to 1000 of them; of more there is the digest
}

// Failure is one cell that gave no measurement.
type Failure struct {
	CellID string `json:"cell_id"`
	Status string `json:"status"`
	Error  string `json:"error"` // what went wrong and what to do
	Points int    `json:"points"`
}

// manifestVersion is the form that this version writes and reads.
const manifestVersion = 1

// WriteManifest writes m into the results folder dir, atomically. It sets m.Version.
func WriteManifest(dir string, m *Manifest) error {
	m.Version = manifestVersion
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the manifest of %s: %w", dir, err)
	}
	return atomicfile.Write(filepath.Join(dir, ManifestFile), func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

// ReadManifest reads the manifest of the results folder dir. The error is fs.ErrNotExist where there is none.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("reading %s: byte offset %d: %w", path, syntax.Offset, err)
		}
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("reading %s: it is of version %d, this frontier reads %d; use the version that wrote it", path, m.Version, manifestVersion)
	}
	return &m, nil
}
