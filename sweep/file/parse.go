package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"frontier/chunkers"
)

// decoder turns the tree of one file into a File.
type decoder struct {
	*problems
	reg          Registry
	file         *File
	hasEmbedders bool
	n, dim       int // of synthetic vectors; -1 where the data decides
	values       int // of all axes so far
	programs     map[string]*program
	compiled     int // expressions
	checked      int // combinations of parameters
}

// Read reads and checks the sweep file at path. See Parse.
func Read(path string, reg Registry, sets []string) (*File, error) {
	src, err := readLimited(path)
	if err != nil {
		return nil, fmt.Errorf("read the sweep file: %w", err)
	}
	return Parse(path, src, reg, sets)
}

// readLimited reads at most one byte more than Parse accepts, so that a wrong path to a huge file costs nothing.
func readLimited(path string) (src []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, maxSource+1))
}

// Parse reads a sweep file from src and checks all that can be known from it, the registry and the existence of the
// files that it names, which are relative to the folder of path. sets are overrides such as "indexes.0.M=[8,16]" or
// "measure.rounds=1", in which null removes a key. The error is an Errors that has all problems found. An engine that
// this binary lacks is not an error; see DropAbsent.
func Parse(path string, src []byte, reg Registry, sets []string) (*File, error) {
	text := []byte(strings.TrimPrefix(string(src), "\ufeff"))
	d := &decoder{
		problems: newProblems(path, text),
		reg:      reg,
		file:     &File{Path: path, Source: src, Version: 1},
		n:        -1,
		dim:      -1,
		programs: map[string]*program{},
	}
	root := parseTree(d.problems, text)
	if root != nil {
		if root, ok := applySets(d.problems, root, sets); ok {
			d.root(root)
		}
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return d.file, nil
}

// Rel is path relative to the folder of the sweep file, unless it is absolute.
func (f *File) Rel(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.Path), path)
}

func (d *decoder) root(root *node) {
	if root.kind != mapping {
		d.add(root.pos, "", "must be a mapping with the keys "+strings.Join(names(rootFields()), ", ")+", not "+root.describe(), "a sweep file starts with version: 1")
		return
	}
	s, _ := d.open(&entry{pos: Pos{1, 1}, val: root}, "", rootFields())
	if v := s.integer("version"); v > 1 {
		s.wrong(s.get("version"), fmt.Sprintf("version %d of the format is not known to this program, which reads 1", v), "use a newer frontier")
	}
	f := d.file
	f.Hypothesis, _ = s.text("hypothesis")
	f.Name, _ = s.text("name")
	if f.Name == "" {
		base := filepath.Base(f.Path)
		f.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	f.Seed = d.seed(s)
	f.BuildThreads = s.integer("build_threads")
	d.data(s)
	d.chunkers(s)
	d.embedders(s)
	d.indexes(s)
	d.filters(s)
	d.pipeline(s)
	d.measure(s)
	limits, _ := d.open(s.get("limits"), "limits", limitsFields())
	f.Limits = Limits{CellTime: limits.duration("cell_time"), Memory: limits.size("memory"), Query: limits.duration("query_time")}
	d.cost(s)
	d.objectives(s)
	d.strategy(s)
	d.rerankers(s)
}

func (d *decoder) seed(s *section) uint64 {
	e := s.get("seed")
	if e == nil {
		return 42
	}
	switch v := e.val.value.(type) {
	case uint64:
		return v
	case int64:
		if v >= 0 {
			return uint64(v)
		}
	}
	s.wrong(e, "must be a whole number from 0, not "+e.val.describe(), "")
	return 0
}

func (d *decoder) chunkers(s *section) {
	d.file.Chunkers = d.items(s, "chunkers", kindsOfChunkers(d.reg), d.checkChunker)
	if s.node.get("chunkers") == nil && d.file.Dataset != nil && slices.ContainsFunc(d.reg.Chunkers, func(k chunkers.Kind) bool { return k.Name == "none" }) {
		d.file.Chunkers = []Item{{Kind: "none"}}
	}
}

func (d *decoder) embedders(s *section) {
	d.file.Embedders = d.items(s, "embedders", kindsOfEmbedders(d.reg), nil)
}

// pipeline checks what the parts of the file need from each other.
func (d *decoder) pipeline(s *section) {
	f := d.file
	if f.Vectors != nil {
		for _, key := range []string{"chunkers", "embedders"} {
			if e := s.get(key); e != nil && !emptyList(e.val) {
				d.add(e.pos, key, "are for text, and this file measures on vectors", "remove them, or give a dataset in place of vectors")
			}
		}
	}
	if f.Dataset != nil && len(f.Chunkers) == 0 && s.node.get("chunkers") != nil && len(d.list) == 0 {
		d.add(s.node.get("chunkers").pos, "chunkers", "has no entry", "{kind: none} keeps documents whole")
	}
}

// rerankers are not built; saying so is allowed.
func (d *decoder) rerankers(s *section) {
	e := s.get("rerankers")
	if e == nil {
		return
	}
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("rerankers[%d]", i)
		kind := n.get("kind")
		switch {
		case n.kind != mapping || kind == nil:
			d.add(placeOf(n, e.pos), name, "must be a mapping with a kind, not "+n.describe(), "write {kind: none}")
		case kind.val.value == nil:
			d.add(placeOf(kind.val, kind.pos), name+".kind", "must be none, not "+kind.val.describe(), "write {kind: none}, or leave rerankers out")
		case kind.val.value != "none":
			d.notBuilt(placeOf(kind.val, kind.pos), name+".kind", fmt.Sprint(kind.val.value), "write {kind: none}, or leave rerankers out")
		case len(n.entries) > 1:
			d.add(n.pos, name, "none takes no parameters", "write {kind: none}")
		}
	}
	if len(e.val.items) > 1 {
		d.add(e.pos, "rerankers", "has more than one entry", "write [{kind: none}]")
	}
}

func (d *decoder) strategy(s *section) {
	e := s.get("strategy")
	if e == nil {
		return
	}
	if kind := e.val.get("kind"); kind != nil && (kind.val.value == "random" || kind.val.value == "pareto") {
		d.notBuilt(placeOf(kind.val, kind.pos), "strategy.kind", fmt.Sprint(kind.val.value), "use {kind: grid}")
		return
	}
	if e.val.kind == scalar {
		d.add(placeOf(e.val, e.pos), "strategy", "must be a mapping, not "+e.val.describe(), "write {kind: grid}")
		return
	}
	strategy, _ := d.open(e, "strategy", strategyFields())
	strategy.text("kind")
}
