package sweep

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"frontier/chunkers"
	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/results"
	"frontier/sweep/file"
)

// corpus is a text data set, ready to be chunked.
type corpus struct {
	name    string  // as the sweep file has it
	digest  cas.Key // of the content, whatever the files are called and whenever they were touched
	path    string  // JSON Lines that datasets.OpenCorpus reads
	stats   corpusStats
	ids     []string // of the documents, in corpus order
	golden  *datasets.Golden
	units   [][]datasets.Unit // of each case: the evidence that its caller may see
	access  *access           // nil if every question may get everything
	queries queryFile
	subset  *results.Subset // nil if all questions are asked
	fields  []string        // further fields of the cases that say what kind of question each is
}

// corpusStats is what the corpus stage stores beside the documents.
type corpusStats struct {
	Digest     string
	Documents  int
	Characters int
	Tokens     int
}

// queryFile is the questions as the cells read them.
type queryFile struct {
	path   string
	digest cas.Key
	count  int
}

const corpusVersion = 1

// storedDocument is the JSON form of a document in the cache.
type storedDocument struct {
	ID       string            `json:"_id"`
	Title    string            `json:"title"`
	Text     string            `json:"text"`
	Sections []storedSection   `json:"sections,omitempty"`
	Fields   map[string]string `json:"metadata,omitempty"`
}

type storedSection struct {
	ID    string `json:"id"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// prepareCorpus reads the corpus once into the cache, and checks the golden set against it.
func (r *runner) prepareCorpus(ctx context.Context) (*corpus, error) {
	d := r.file.Dataset
	source, stage, err := openCorpus(r.file)
	if err != nil {
		return nil, err
	}
	golden, err := datasets.ReadGolden(r.file.Rel(d.Queries), relUnlessEmpty(r, d.Qrels))
	if err != nil {
		return nil, err
	}
	r.warn(golden.Warnings...)
	subset, warnings, err := takeSubset(r.file, golden)
	if err != nil {
		return nil, err
	}
	r.warn(warnings...)
	if err := r.checkPasses(len(golden.Cases)); err != nil {
		return nil, err
	}
	art, err := r.do(ctx, "corpus", d.Corpus, stage, func(ctx context.Context, dir string) error {
		return storeCorpus(ctx, source, dir)
	})
	if err != nil {
		return nil, err
	}
	c := &corpus{name: d.Corpus, path: art.Path("documents.jsonl"), golden: golden, subset: subset, fields: furtherFields(golden)}
	if err := readJSON(art.Path("stats.json"), &c.stats); err != nil {
		return nil, err
	}
	c.digest = cas.Key(c.stats.Digest)
	fields := fieldsToKeep(r.file, golden)
	if err := c.resolve(ctx, fields); err != nil {
		return nil, err
	}
	if err := r.limitAccess(c, fields); err != nil {
		return nil, err
	}
	if c.scorable(r.file.Measure.RelevanceMin) == 0 {
		r.warn(fmt.Sprintf("none of the %d questions has evidence of relevance %d or more: there is no quality to measure", len(golden.Cases), r.file.Measure.RelevanceMin))
	}
	return c, r.storeQueries(ctx, c)
}

// furtherFields are the fields of a golden set that group its cases and have no column of their own.
func furtherFields(g *datasets.Golden) []string {
	own := []string{datasets.SliceAnswerability, datasets.SliceScenario, datasets.SliceDifficulty, datasets.SliceSplit, datasets.SliceTags}
	var fields []string
	for _, s := range g.Slices() {
		if !slices.Contains(own, s.Field) && !slices.Contains(fields, s.Field) {
			fields = append(fields, s.Field)
		}
	}
	return fields
}

// openCorpus opens the corpus that f names and gives the stage that stores it.
func openCorpus(f *file.File) (datasets.Corpus, cas.Stage, error) {
	name := f.Dataset.Corpus
	if !strings.HasPrefix(name, "godoc:") {
		name = f.Rel(name)
	}
	source, err := datasets.OpenCorpus(name)
	if err != nil {
		return nil, cas.Stage{}, err
	}
	fingerprint, err := source.Fingerprint()
	if err != nil {
		return nil, cas.Stage{}, err
	}
	return source, cas.Stage{Name: "corpus", Version: corpusVersion, Params: name + "\n" + fingerprint}, nil
}

func relUnlessEmpty(r *runner, path string) string {
	if path == "" {
		return ""
	}
	return r.file.Rel(path)
}

// resolve reads the stored corpus once, for the ids, the places of the evidence, and the values of fields.
func (c *corpus) resolve(ctx context.Context, fields docFields) error {
	stored, err := datasets.OpenCorpus(c.path)
	if err != nil {
		return err
	}
	resolver := datasets.NewResolver(c.golden)
	for doc, err := range stored.Documents(ctx) {
		if err != nil {
			return err
		}
		if err := resolver.Add(len(c.ids), doc); err != nil {
			return err
		}
		c.ids = append(c.ids, doc.ID)
		fields.add(doc)
	}
	c.units, err = resolver.Finish()
	return err
}

// scorable is how many questions have evidence of a grade that counts.
func (c *corpus) scorable(relevanceMin int) int {
	n := 0
	for _, units := range c.units {
		if slices.ContainsFunc(units, func(u datasets.Unit) bool { return u.Grade >= relevanceMin }) {
			n++
		}
	}
	return n
}

// narrow says whether any evidence that counts is less than a whole document.
func (c *corpus) narrow(relevanceMin int) bool {
	for _, units := range c.units {
		if slices.ContainsFunc(units, func(u datasets.Unit) bool { return u.Grade >= relevanceMin && !u.Whole }) {
			return true
		}
	}
	return false
}

// storeQueries writes the questions where cells find them.
func (r *runner) storeQueries(ctx context.Context, c *corpus) error {
	texts := make([]string, len(c.golden.Cases))
	for i, k := range c.golden.Cases {
		texts[i] = k.Query
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	digest := cas.Hash(string(raw))
	art, err := r.cache.Do(ctx, cas.Stage{Name: "queries", Version: 1, Inputs: []cas.Key{digest}}, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "queries.json"), raw, 0o644)
	})
	if err != nil {
		return err
	}
	c.queries = queryFile{path: art.Path("queries.json"), digest: digest, count: len(texts)}
	return nil
}

func storeCorpus(ctx context.Context, source datasets.Corpus, dir string) (err error) {
	f, err := os.Create(filepath.Join(dir, "documents.jsonl"))
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	sum := sha256.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	encode := documentEncoder(buffered)
	var stats corpusStats
	for doc, err := range source.Documents(ctx) {
		if err != nil {
			return err
		}
		if err := encode(doc); err != nil {
			return err
		}
		tokens, err := chunkers.CountTokens(doc.Text)
		if err != nil {
			return fmt.Errorf("document %s: count tokens: %w", doc.ID, err)
		}
		stats.Documents++
		stats.Characters += utf8.RuneCountInString(doc.Text)
		stats.Tokens += tokens
	}
	if stats.Documents == 0 {
		return &datasets.Error{File: source.Name(), Msg: "the corpus has no documents"}
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	stats.Digest = digestOf(sum)
	return writeJSON(filepath.Join(dir, "stats.json"), stats)
}

func digestOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644)
}

func readJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
