package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"frontier/datasets"
	"frontier/results"
	"frontier/sweep/file"
)

// Casebook is the questions of a run with the evidence of each, and the texts of some documents.
type Casebook struct {
	Cases []datasets.Case
	Units [][]datasets.Unit // of each case
	// Documents are the ids of all documents, by number; Texts are the texts of those that were to be kept.
	Documents    []string
	Texts        map[string]string
	RelevanceMin int // smallest grade that counts
}

// ReadCasebook reads the corpus and the golden set that the sweep file of a run names once more, keeping the texts of the
// documents that hold evidence of the cases with the given ids, and those for which keep is true. Where one of the two is not what the run saw, the error says so: spans of another
// text mean nothing.
func ReadCasebook(ctx context.Context, f *file.File, m *results.Manifest, cases []string, keep func(id string) bool) (*Casebook, error) {
	if f.Dataset == nil {
		return nil, fmt.Errorf("the run is over vectors, which have no texts")
	}
	source, _, err := openCorpus(f)
	if err != nil {
		return nil, err
	}
	qrels := f.Dataset.Qrels
	if qrels != "" {
		qrels = f.Rel(qrels)
	}
	golden, err := datasets.ReadGolden(f.Rel(f.Dataset.Queries), qrels)
	if err != nil {
		return nil, err
	}
	if _, _, err := takeSubset(f, golden); err != nil {
		return nil, err
	}
	c := &corpus{golden: golden}
	book := &Casebook{Cases: golden.Cases, Texts: map[string]string{}, RelevanceMin: f.Measure.RelevanceMin}
	evidence := map[string]bool{}
	for _, k := range golden.Cases {
		if slices.Contains(cases, k.ID) {
			for _, e := range k.Evidence {
				evidence[e.DocumentID] = true
			}
		}
	}
	resolver, fields := datasets.NewResolver(golden), fieldsToKeep(f, golden)
	sum := sha256.New()
	encode := documentEncoder(sum)
	for doc, err := range source.Documents(ctx) {
		if err != nil {
			return nil, err
		}
		if err := encode(doc); err != nil {
			return nil, err
		}
		if err := resolver.Add(len(book.Documents), doc); err != nil {
			return nil, err
		}
		book.Documents = append(book.Documents, doc.ID)
		fields.add(doc)
		if evidence[doc.ID] || keep(doc.ID) {
			book.Texts[doc.ID] = doc.Text
		}
	}
	if got, want := digestOf(sum), m.Digests["corpus"]; got != want {
		return nil, fmt.Errorf("%s was changed since the run: its digest is %s, and was %s", source.Name(), got, want)
	}
	if c.units, err = resolver.Finish(); err != nil {
		return nil, err
	}
	c.name, c.ids = f.Dataset.Corpus, book.Documents
	if c.access, err = newAccess(f, c, fields); err != nil {
		return nil, err
	}
	if c.access != nil {
		c.units, _ = c.access.eligibleUnits(c.units)
	}
	book.Units = c.units
	digest, err := judgementDigest(f, c)
	if err != nil {
		return nil, err
	}
	if want := m.Digests["judgements"]; digest != want {
		return nil, fmt.Errorf("%s was changed since the run: the digest of its cases is %s, and was %s", f.Dataset.Queries, digest, want)
	}
	return book, nil
}

// ReadSweepOf reads the sweep file of a run out of its manifest. Relative paths are taken from the folder of the original
// file, or from root, if that is not "".
func ReadSweepOf(m *results.Manifest, reg file.Registry, root string) (*file.File, error) {
	path := m.SweepFile
	if root != "" || path == "" {
		path = filepath.Join(root, "sweep.yaml")
	}
	return file.Parse(path, []byte(m.Sweep), reg, nil)
}

// documentEncoder writes documents in the form that the cache keeps and that digests are taken over.
func documentEncoder(w io.Writer) func(datasets.Document) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(doc datasets.Document) error {
		stored := storedDocument{ID: doc.ID, Title: doc.Title, Text: doc.Text, Fields: doc.Fields}
		for _, s := range doc.Sections {
			stored.Sections = append(stored.Sections, storedSection{s.ID, s.Start, s.End})
		}
		return enc.Encode(stored)
	}
}
