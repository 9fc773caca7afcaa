package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/internal/vector"
)

// saveTruthEvery is how much work on the truth a kill may cost.
const saveTruthEvery = 30 * time.Second

// prepareTruth finds the exact neighbours of the queries. Where a sweep was killed meanwhile, the next goes on with what
// was found.
func (r *runner) prepareTruth(ctx context.Context, name string, e *embedding, queries cas.Key) error {
	k := max(r.maxK()+truthSlack, deepTruth)
	if r.corpus != nil && r.file.Measure.Unit == unitDocument {
		k = max(k, r.file.Measure.Depth) // several chunks may be of one document
	}
	stage := cas.Stage{
		Name: "truth", Version: truthVersion,
		Params: fmt.Sprintf("%s k=%d", e.metric, k), Inputs: []cas.Key{e.key, queries},
	}
	unfinished := r.cache.Unfinished(stage.Key())
	art, err := r.do(ctx, "truth", name, stage, func(work context.Context, dir string) error {
		// Other stages are finished when the user wants to go. This one may take hours, and can go on later.
		work, stop := context.WithCancel(work)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		s := truth.Search{
			Metric: e.metric, K: k, Workers: r.opt.Jobs, Dir: unfinished, SaveEvery: saveTruthEvery, Progress: r.tellTruth(name),
			BaseFile: datasets.VectorFingerprint{Digest: string(e.key)}, QueryFile: datasets.VectorFingerprint{Digest: string(queries)},
		}
		if err := searchTruth(work, s, e, dir); err != nil {
			return fmt.Errorf("exact neighbours: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := os.RemoveAll(unfinished); err != nil {
		r.warn(fmt.Sprintf("what is left of the search for exact neighbours cannot be deleted: %v", err))
	}
	e.truth, err = truth.Load(art.Dir)
	return err
}

// tellTruthEvery is how often something is said of a search that takes long.
const tellTruthEvery = 15 * time.Second

func (r *runner) tellTruth(name string) func(truth.Progress) {
	next := tellTruthEvery
	return func(p truth.Progress) {
		if p.Elapsed < next || p.Rows == p.Total {
			return
		}
		next = p.Elapsed + tellTruthEvery
		left := time.Duration(float64(p.Elapsed) * float64(p.Total-p.Rows) / float64(p.Rows-p.Resumed))
		r.progress(Event{Stage: "waiting", Detail: fmt.Sprintf("exact neighbours in %s: %d of %d rows after %v, some %v left",
			name, p.Rows, p.Total, p.Elapsed.Round(time.Second), left.Round(time.Second))})
	}
}

// searchTruth runs the search on the files of the embedding, and saves what it finds in dir. What it has found stays in the
// folder for unfinished work, if it took long, until the caller has stored dir.
func searchTruth(ctx context.Context, s truth.Search, e *embedding, dir string) error {
	begun := time.Now()
	base, err := datasets.OpenVectorStream(e.base)
	if err != nil {
		return err
	}
	defer base.Close()
	q, err := vector.OpenFbin(e.queries)
	if err != nil {
		return err
	}
	defer q.Close()
	s.Base, s.Queries = base, q
	s.BaseFile.Rows, s.BaseFile.Dim = base.Len(), base.Dim()
	s.QueryFile.Rows, s.QueryFile.Dim = q.Len(), q.Dim()
	if err := os.MkdirAll(filepath.Dir(s.Dir), 0o777); err != nil {
		return err
	}
	found, err := s.Run(ctx)
	if isUnusable(err, s.Dir) {
		if err := os.RemoveAll(s.Dir); err != nil {
			return err
		}
		found, err = s.Run(ctx)
	}
	if err != nil {
		return err
	}
	err = found.Neighbors().Save(dir)
	if err != nil || time.Since(begun) > s.SaveEvery {
		return errors.Join(err, found.Save(), found.Close())
	}
	return found.Discard()
}

// isUnusable says whether the error is of what an earlier search left in dir: it is damaged, or of another version.
func isUnusable(err error, dir string) bool {
	var changed *truth.ChangedError
	var damaged *datasets.Error
	return errors.As(err, &changed) || errors.As(err, &damaged) && filepath.Dir(damaged.File) == dir
}
