package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"frontier/internal/vector"
)

// godocStd names the built-in corpus.
const godocStd = "godoc:std"

var scheme = regexp.MustCompile(`^[a-z][a-z0-9+]*:`)

// data reads what the sweep measures on: exactly one of dataset and vectors.
func (d *decoder) data(s *section) {
	text, vectors := s.get("dataset"), s.get("vectors")
	switch {
	case text != nil && vectors != nil:
		d.add(vectors.pos, "vectors", fmt.Sprintf("dataset is given too, in line %d", text.pos.Line), "keep one of the two")
	case text == nil && vectors == nil:
		d.add(Pos{1, 1}, "", "has neither dataset nor vectors", "say what to measure on: dataset: {corpus: ..., queries: ...} or vectors: {base: ..., queries: ..., metric: ...}")
	}
	d.hasEmbedders = s.get("embedders") != nil && !emptyList(s.get("embedders").val)
	if text != nil {
		d.dataset(text)
	}
	if vectors != nil {
		d.vectors(vectors)
	}
}

func (d *decoder) dataset(e *entry) {
	s, _ := d.open(e, "dataset", datasetFields())
	set := &Dataset{}
	set.Corpus, set.CorpusPos = s.text("corpus")
	set.Queries, set.QueriesPos = s.text("queries")
	set.Qrels, set.QrelsPos = s.text("qrels")
	set.Title, _ = s.text("title")
	d.subset(s, set)
	switch {
	case set.Corpus == godocStd:
	case strings.HasPrefix(set.Corpus, "godoc:"):
		d.notBuilt(set.CorpusPos, "dataset.corpus", set.Corpus, "use "+godocStd)
	default:
		d.exists(set.Corpus, set.CorpusPos, "dataset.corpus")
	}
	d.exists(set.Queries, set.QueriesPos, "dataset.queries")
	d.exists(set.Qrels, set.QrelsPos, "dataset.qrels")
	d.file.Dataset = set
}

// subset reads which cases are to be asked.
func (d *decoder) subset(s *section, set *Dataset) {
	set.Split, set.SplitPos = s.text("split")
	set.By, set.ByPos = s.text("by")
	set.Sample = s.integer("sample")
	if e := s.get("by"); e != nil && s.get("sample") == nil {
		s.wrong(e, "says how a sample is drawn, and there is none", "give sample as well, or remove it")
	}
	if set.By == "tags" {
		s.wrong(s.get("by"), "cannot be tags, of which a case may have several", "take a field with one value, such as scenario")
	}
	e := s.get("tags")
	if e == nil {
		return
	}
	set.TagsPos = placeOf(e.val, e.pos)
	if emptyList(e.val) {
		s.wrong(e, "is an empty list", "name a tag, or remove the key")
	}
	seen := map[string]bool{}
	for _, n := range elements(e.val) {
		tag, ok := n.value.(string)
		switch {
		case !ok || n.kind != scalar || strings.TrimSpace(tag) == "":
			d.add(placeOf(n, e.pos), join(s.name, "tags"), "must be strings, not "+n.describe(), "quote a tag that is a number")
		case seen[tag]:
			d.add(placeOf(n, e.pos), join(s.name, "tags"), fmt.Sprintf("has the tag %q twice", tag), "remove one")
		default:
			seen[tag] = true
			set.Tags = append(set.Tags, tag)
		}
	}
}

// exists reports a path that is not there.
func (d *decoder) exists(path string, pos Pos, name string) {
	if path == "" {
		return
	}
	full := d.file.Rel(path)
	_, err := os.Stat(full)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && scheme.MatchString(path):
		d.notBuilt(pos, name, path, "use a local file or folder, or "+godocStd+" as the corpus")
	case errors.Is(err, fs.ErrNotExist):
		d.add(pos, name, fmt.Sprintf("%s does not exist", full), "paths are relative to the folder of the sweep file")
	default:
		d.add(pos, name, err.Error(), "")
	}
}

func (d *decoder) vectors(e *entry) {
	s, _ := d.open(e, "vectors", vectorsFields())
	v := &Vectors{}
	v.Metric = d.metric(s)
	v.Base, v.BasePos = s.text("base")
	v.Queries, v.QueriesPos = s.text("queries")
	v.Truth, v.TruthPos = s.text("truth")
	if synthetic := s.get("synthetic"); synthetic != nil {
		for _, key := range []string{"base", "queries", "truth"} {
			if e := s.get(key); e != nil {
				s.wrong(e, "is for vectors from files, and synthetic is given too", "remove one of the two")
			}
		}
		v.Synthetic = d.synthetic(synthetic)
	} else if s.node != nil {
		for _, key := range []string{"base", "queries"} {
			if s.node.get(key) == nil {
				d.add(s.pos, join("vectors", key), "is required: "+lowerFirst(s.field(key).doc), "or give synthetic: {n: ..., dim: ...} in place of files")
			}
		}
	}
	d.exists(v.Base, v.BasePos, "vectors.base")
	d.exists(v.Queries, v.QueriesPos, "vectors.queries")
	d.exists(v.Truth, v.TruthPos, "vectors.truth")
	d.file.Vectors = v
}

// metric reads the metric by any of its usual names.
func (d *decoder) metric(s *section) string {
	e := s.get("metric")
	if e == nil {
		return ""
	}
	if text, ok := e.val.value.(string); ok {
		if m, err := vector.ParseMetric(text); err == nil {
			return string(m)
		}
	}
	m, _ := s.text("metric")
	return m
}

func (d *decoder) synthetic(e *entry) *Synthetic {
	before := len(d.list)
	s, ok := d.open(e, "vectors.synthetic", syntheticFields())
	out := &Synthetic{
		N: s.integer("n"), Dim: s.integer("dim"), Clusters: s.integer("clusters"), Queries: s.integer("queries"),
		Spread: s.number("spread"),
	}
	if out.Clusters > out.N && ok {
		s.wrong(s.get("clusters"), fmt.Sprintf("%d clusters are more than the %d vectors", out.Clusters, out.N), "")
	}
	if ok && len(d.list) == before {
		d.n, d.dim = out.N, out.Dim
	}
	return out
}
