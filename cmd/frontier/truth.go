package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/internal/bytesize"
	"frontier/internal/vector"
	"frontier/results/truthfile"

	"github.com/spf13/cobra"
)

// shardExtension is what the names of shards end in.
const shardExtension = ".shard"

// truthFlags are the flags of truth.
type truthFlags struct {
	base, queries, metric, out, distances string
	memory, shard                         string
	k, threads                            int
	audit                                 bool
	saveEvery                             time.Duration
}

func newTruth() *cobra.Command {
	var f truthFlags
	cmd := &cobra.Command{
		Use:   "truth --base B --queries Q -o OUT",
		Short: "Find the exact nearest neighbours of each query, in base files of any size",
		Long: "Finds the k nearest rows of the base for each query, exactly: ids are those of arithmetic in float64, ties go to the\n" +
			"smaller row. The base is read once, in blocks, and may be much larger than memory. Unfinished work is kept in\n" +
			"OUT.partial: after a crash, a kill or Ctrl-C, run the same command again. Several machines may each take a shard\n" +
			"of the base; `frontier truth merge` makes one result of theirs.\n\n" +
			"Vector files: " + strings.Join(datasets.VectorExtensions(), " ") + "\n" +
			"Outputs: " + strings.Join(truthfile.Extensions(), " ") + ", and " + shardExtension + " with --shard",
		Example: "  frontier truth --base sift_base.fvecs --queries sift_query.fvecs -k 100 --metric l2 -o gt.parquet",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(hint(fmt.Errorf("%q is not expected", args[0]), "name the files with --base, --queries and -o, or use `frontier truth merge`"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "file of the vectors that are searched")
	flags.StringVar(&f.queries, "queries", "", "file of the vectors that are asked for")
	flags.IntVarP(&f.k, "k", "k", 100, "neighbours of each query")
	flags.StringVar(&f.metric, "metric", "l2", "l2 (squared), ip (negated inner product) or cosine (1 - cosine)")
	flags.StringVarP(&f.out, "out", "o", "", "file of the neighbours; its name says the format")
	flags.StringVar(&f.distances, "distances", "", "also write the distances to this file: "+strings.Join(truthfile.DistanceExtensions(), " "))
	flags.StringVar(&f.memory, "memory", "", "most memory to use, such as 2GiB (default: no limit)")
	flags.IntVar(&f.threads, "threads", runtime.GOMAXPROCS(0), "how many cores to use")
	flags.StringVar(&f.shard, "shard", "", "search only part i of n of the base, given as i/n")
	flags.BoolVar(&f.audit, "audit", false, "first look for zero vectors, duplicates and queries in the base, in a pass of its own")
	flags.DurationVar(&f.saveEvery, "save-every", 30*time.Second, "how often unfinished work is saved")
	cmd.AddCommand(newTruthMerge())
	return cmd
}

// options checks all flags before anything is read.
func (f *truthFlags) options(cmd *cobra.Command) (s *truth.Search, err error) {
	s = &truth.Search{K: f.k, Workers: f.threads, Audit: f.audit, SaveEvery: f.saveEvery}
	switch {
	case f.base == "" || f.queries == "" || f.out == "":
		return nil, fmt.Errorf("--base, --queries and -o are needed, as in `%s`", cmd.Example[2:])
	case f.k < 1:
		return nil, fmt.Errorf("-k is %d; ask for at least 1 neighbour", f.k)
	case f.threads < 1:
		return nil, fmt.Errorf("--threads is %d; at least one is needed", f.threads)
	case f.saveEvery < 0:
		return nil, fmt.Errorf("--save-every is %v; a time cannot be negative", f.saveEvery)
	}
	if s.Metric, err = vector.ParseMetric(f.metric); err != nil {
		return nil, fmt.Errorf("--metric: %w", err)
	}
	if f.memory != "" {
		if s.Memory, err = bytesize.Parse(f.memory); err != nil {
			return nil, fmt.Errorf("--memory: %w", err)
		}
	}
	if f.shard != "" {
		if s.Shard, err = truth.ParseShard(f.shard); err != nil {
			return nil, fmt.Errorf("--shard: %w", err)
		}
	}
	if isShard := strings.EqualFold(filepath.Ext(f.out), shardExtension); isShard == s.Shard.Whole() {
		return nil, fmt.Errorf("-o %s: names end in %s with --shard, and only then", f.out, shardExtension)
	}
	if f.distances != "" && !s.Shard.Whole() {
		return nil, errors.New("--distances: shards hold the distances already; give the flag to `frontier truth merge`")
	}
	return s, f.checkOutputs(1, 1)
}

// checkOutputs refuses outputs that could not be written in the end.
func (f *truthFlags) checkOutputs(queries, rows int) error {
	if f.distances != "" {
		if err := truthfile.CheckDistances(f.distances); err != nil {
			return err
		}
	}
	for _, pair := range [][2]string{{f.out, f.base}, {f.out, f.queries}, {f.distances, f.base}, {f.distances, f.queries}, {f.out, f.distances}} {
		if pair[1] != "" && (filepath.Clean(pair[0]) == filepath.Clean(pair[1]) || sameFile(pair[0], pair[1])) {
			return fmt.Errorf("%s and %s are one file, of which nothing else would be left; write elsewhere", pair[0], pair[1])
		}
	}
	if f.shard != "" {
		return nil
	}
	return truthfile.Check(f.out, queries, rows)
}

func (f *truthFlags) run(cmd *cobra.Command) (err error) {
	s, err := f.options(cmd)
	if err != nil {
		return usage(err)
	}
	base, err := openStream("--base", f.base)
	if err != nil {
		return err
	}
	defer base.Close()
	queries, err := openStream("--queries", f.queries)
	if err != nil {
		return err
	}
	defer queries.Close()
	if err := f.prepare(s, base, queries); err != nil {
		return err
	}
	tell := newTruthProgress(os.Stderr, base.RowBytes())
	s.Progress = tell.show
	found, err := s.Run(cmd.Context())
	tell.end()
	if err != nil {
		return f.explain(err, base, queries)
	}
	tellTruth(cmd, &found.Header)
	if err := f.write(cmd.Context(), found); err != nil {
		// The disk may be full: what was found must not be lost for that.
		return f.explain(errors.Join(err, found.Save(), found.Close()), base, queries)
	}
	return found.Discard()
}

// openStream opens the file that a flag names.
func openStream(flag, path string) (*datasets.VectorStream, error) {
	s, err := datasets.OpenVectorStream(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usage(fmt.Errorf("%s: %w", flag, err))
	}
	return s, err
}

// prepare checks the search against the sizes of the files, sets the limit of memory, and reads the queries.
func (f *truthFlags) prepare(s *truth.Search, base, queries *datasets.VectorStream) (err error) {
	if base.Dim() != queries.Dim() {
		return usage(fmt.Errorf("the vectors of %s have %d dimensions and those of %s %d; both must come from the same model", f.base, base.Dim(), f.queries, queries.Dim()))
	}
	if s.Shard.Count > base.Len() {
		return usage(fmt.Errorf("--shard: %d rows cannot be divided into %d shards", base.Len(), s.Shard.Count))
	}
	if err := f.checkOutputs(queries.Len(), base.Len()); err != nil {
		return usage(err)
	}
	from, to := s.Shard.Range(base.Len())
	if _, err := truth.PlanMemory(queries.Len(), base.Dim(), to-from, s.K, s.Workers, s.Memory); err != nil {
		return usage(fmt.Errorf("--memory: %w", err))
	}
	if s.Memory > 0 {
		debug.SetMemoryLimit(truth.HeapLimit(s.Memory))
	}
	s.Base, s.Dir = base, f.out+".partial"
	if s.BaseFile, err = base.Fingerprint(); err != nil {
		return err
	}
	if s.QueryFile, err = queries.Fingerprint(); err != nil {
		return err
	}
	values := make([]float32, queries.Len()*queries.Dim())
	if err := queries.ReadRows(0, values); err != nil {
		return err
	}
	s.Queries, err = vector.NewMatrix(values, queries.Dim())
	return err
}

// explain adds to an error of the search what the user needs to know of it.
func (f *truthFlags) explain(err error, base, queries *datasets.VectorStream) error {
	var notFinite *truth.NotFiniteError
	var changed *truth.ChangedError
	switch {
	case errors.As(err, &notFinite):
		of := base
		if notFinite.What == "query" {
			of = queries
		}
		if inFile := of.Check(int(notFinite.Row)); inFile != nil {
			return inFile
		}
	case errors.As(err, &changed):
		return usage(err)
	case errors.Is(err, context.Canceled):
		return interruptedTruth(err)
	}
	return err
}

func interruptedTruth(err error) error {
	return exitError{exitInterrupted, hint(err, "run the same command to go on")}
}

func (f *truthFlags) write(ctx context.Context, found *truth.Found) error {
	if f.shard != "" {
		return found.WriteShard(f.out)
	}
	return writeTruth(ctx, found, &found.Header, f.out, f.distances)
}

// untilDone is neighbours that are given no further when ctx is done: writing those of many queries takes minutes.
type untilDone struct {
	truthfile.Neighbors
	ctx context.Context
}

func (n untilDone) Each(yield func(ids []int64, distances []float64) error) error {
	return n.Neighbors.Each(func(ids []int64, distances []float64) error {
		if err := n.ctx.Err(); err != nil {
			return err
		}
		return yield(ids, distances)
	})
}

// writeTruth writes the neighbours and, where asked for, the distances.
func writeTruth(ctx context.Context, n truthfile.Neighbors, h *truth.Header, out, distances string) error {
	n = untilDone{n, ctx}
	metadata, err := truthMetadata(h)
	if err != nil {
		return err
	}
	if err := truthfile.Write(out, n, metadata); err != nil {
		return err
	}
	if distances == "" {
		return nil
	}
	return truthfile.WriteDistances(distances, n)
}

// truthMetadata is what a Parquet file says of itself under the key frontier.truth.
func truthMetadata(h *truth.Header) (map[string]string, error) {
	var warnings []string
	if h.Audit != nil {
		warnings = h.Audit.Warnings(h.Metric)
	}
	text, err := json.Marshal(struct {
		*truth.Header
		Warnings []string `json:"warnings,omitempty"`
		Version  string   `json:"frontier_version"`
	}{h, warnings, version()})
	return map[string]string{"frontier.truth": string(text)}, err
}

// tellTruth says what is odd about the data.
func tellTruth(cmd *cobra.Command, h *truth.Header) {
	w := cmd.ErrOrStderr()
	if rows := h.To - h.From; h.Held < h.K {
		fmt.Fprintf(w, "warning: there are only %d rows, so that each query has %d neighbours in place of %d\n", rows, h.Held, h.K)
	}
	if h.Audit == nil {
		return
	}
	for _, text := range h.Audit.Warnings(h.Metric) {
		fmt.Fprintln(w, "warning: "+text)
	}
}
