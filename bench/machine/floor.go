package machine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"frontier/bench/stats"
	"frontier/internal/kernels"
)

// Floor is how small a difference can be told from none here: two variants that are the same are measured in pairs of
// blocks, and what they differ by is noise.
type Floor struct {
	Pairs        int     `json:"pairs"`
	BlockQueries int     `json:"block_queries"` // searches in each of the two blocks of a pair
	BlockSeconds float64 `json:"block_seconds"` // mean length of a block
	Confidence   float64 `json:"confidence"`
	P50Seconds   float64 `json:"p50_seconds"` // of one search, as the median over the blocks
	P99Seconds   float64 `json:"p99_seconds"`
	// P50 and P99 are the smallest relative differences that can be seen, as Detectable gives them.
	P50 float64 `json:"smallest_p50_difference"`
	P99 float64 `json:"smallest_p99_difference"`
}

// FloorOptions are the size of the experiment.
type FloorOptions struct {
	Pairs      int           // at least 2
	Block      time.Duration // about how long a block is; it has at least the searches that a p99 needs
	Confidence float64
	Seed       uint64
}

const (
	floorRows = 2000
	floorDim  = 64
)

// MeasureFloor runs pairs of blocks of the same exact search, by one client over 2,000 vectors of 64 dimensions, 512 KB
// that stay in the cache. The order within a pair is mirrored from pair to pair, so that steady drift cancels. It is an error
// if a search gives a wrong neighbour.
func MeasureFloor(ctx context.Context, o FloorOptions) (Floor, error) {
	if o.Pairs < 2 {
		return Floor{}, fmt.Errorf("a noise floor needs at least 2 pairs of blocks, not %d", o.Pairs)
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return Floor{}, fmt.Errorf("a confidence of %g is not between 0 and 1", o.Confidence)
	}
	search, err := newFloorSearch(o.Seed)
	if err != nil {
		return Floor{}, err
	}
	begin := time.Now()
	const trial = 100
	if _, err := search.block(trial); err != nil { // also warms up
		return Floor{}, err
	}
	queries := max(int(o.Block.Seconds()/time.Since(begin).Seconds()*trial), stats.MinSamples(0.99, 0.95))

	var p50s, p99s, ratios50, ratios99 []float64
	begin = time.Now()
	for pair := range o.Pairs {
		var p50, p99 [2]float64
		for turn := range 2 {
			if err := ctx.Err(); err != nil {
				return Floor{}, err
			}
			took, err := search.block(queries)
			if err != nil {
				return Floor{}, err
			}
			side := (turn + pair) % 2
			p50[side], p99[side] = quantile(took, 0.5), quantile(took, 0.99)
		}
		p50s, p99s = append(p50s, p50[:]...), append(p99s, p99[:]...)
		ratios50 = append(ratios50, math.Log(p50[1]/p50[0]))
		ratios99 = append(ratios99, math.Log(p99[1]/p99[0]))
	}
	slices.Sort(p50s)
	slices.Sort(p99s)
	return Floor{
		Pairs: o.Pairs, BlockQueries: queries, Confidence: o.Confidence,
		BlockSeconds: time.Since(begin).Seconds() / float64(2*o.Pairs),
		P50Seconds:   p50s[o.Pairs], P99Seconds: p99s[o.Pairs],
		P50: Detectable(ratios50, o.Confidence), P99: Detectable(ratios99, o.Confidence),
	}, nil
}

// Detectable is the smallest relative difference that as many pairs as there are log ratios of equals could show at the
// confidence: exp(h)-1, where h = t * s / sqrt(n) is half the width of Student's interval of the mean log ratio. A true
// difference of that size is found about half of the time; for nine times of ten it must be about 1.4 times as large, with
// 10 pairs at 0.99. NaN for fewer than 2 ratios.
func Detectable(logRatios []float64, confidence float64) float64 {
	_, low, high := stats.MeanInterval(logRatios, confidence)
	return math.Expm1((high - low) / 2)
}

// quantile is the p-quantile of sorted values by order statistic, in seconds.
func quantile(sorted []time.Duration, p float64) float64 {
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[max(rank, 1)-1].Seconds()
}

// floorSearch finds the nearest of its rows to each query; the answers are known.
type floorSearch struct {
	rows, queries []float32
	answers       []int
	next          int
}

func newFloorSearch(seed uint64) (*floorSearch, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := &floorSearch{rows: make([]float32, floorRows*floorDim)}
	for i := range s.rows {
		s.rows[i] = float32(rng.NormFloat64())
	}
	for range 64 {
		answer := rng.IntN(floorRows)
		s.answers = append(s.answers, answer)
		for _, x := range s.rows[answer*floorDim : (answer+1)*floorDim] {
			s.queries = append(s.queries, x+float32(0.1*rng.NormFloat64())) // near its row and far from all others
		}
	}
	for i := range s.answers {
		if s.nearest(i) != s.answers[i] {
			return nil, errors.New("the kernel " + kernels.Variant() + " finds wrong neighbours on this machine")
		}
	}
	return s, nil
}

func (s *floorSearch) nearest(query int) int {
	q := s.queries[query*floorDim : (query+1)*floorDim]
	best, nearest := float32(math.Inf(1)), -1
	for r := range floorRows {
		if d := kernels.SquaredL2(q, s.rows[r*floorDim:(r+1)*floorDim]); d < best {
			best, nearest = d, r
		}
	}
	return nearest
}

// block is how long each of n searches took, sorted.
func (s *floorSearch) block(n int) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		query := s.next % len(s.answers)
		s.next++
		begin := time.Now()
		found := s.nearest(query)
		took[i] = time.Since(begin)
		if found != s.answers[query] {
			return nil, errors.New("the kernel " + kernels.Variant() + " finds wrong neighbours on this machine")
		}
	}
	slices.Sort(took)
	return took, nil
}
