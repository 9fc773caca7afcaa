package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"frontier/internal/param"
	"frontier/internal/splitmix"
)

// Synthetic describes vectors drawn from a mixture of Gaussians: Clusters centres, each coordinate of which is standard
// normal, and around each centre points with the standard deviation Spread in every coordinate. Every row belongs to a
// cluster chosen uniformly. Queries are further draws from the same mixture.
//
// Row i depends on Seed and i alone, so rows can be read in any order, and a longer set begins with the shorter one.
// The same values come out on every platform: only operations that IEEE 754 fixes to the bit are used.
type Synthetic struct {
	N        int     // base rows
	Dim      int     // values in a row
	Clusters int     // 1 gives one Gaussian without structure
	Queries  int     // rows of the query set
	Spread   float64 // standard deviation within a cluster, where that between centres is 1
	Seed     uint64
}

const (
	maxSyntheticRows    = math.MaxUint32 // what an fbin file can hold
	maxSyntheticDim     = 1 << 16
	maxSyntheticCentres = 1 << 28 // values of all centres together, which are held in memory: 1 GiB
)

// Validate checks the ranges. The error is a *param.Error that names the parameter as a sweep file writes it.
func (s Synthetic) Validate() error {
	switch {
	case s.N < 1 || uint64(s.N) > maxSyntheticRows:
		return &param.Error{Param: "n", Msg: fmt.Sprintf("%d is out of range: 1 to %d", s.N, uint32(maxSyntheticRows))}
	case s.Dim < 1 || s.Dim > maxSyntheticDim:
		return &param.Error{Param: "dim", Msg: fmt.Sprintf("%d is out of range: 1 to %d", s.Dim, maxSyntheticDim)}
	case s.Clusters < 1 || s.Clusters > s.N:
		return &param.Error{Param: "clusters", Msg: fmt.Sprintf("%d is out of range: 1 to n = %d", s.Clusters, s.N)}
	case s.Clusters > maxSyntheticCentres/s.Dim:
		return &param.Error{Param: "clusters", Msg: fmt.Sprintf("%d centres of %d values need more than 1 GiB: use at most %d", s.Clusters, s.Dim, maxSyntheticCentres/s.Dim)}
	case s.Queries < 1 || uint64(s.Queries) > maxSyntheticRows:
		return &param.Error{Param: "queries", Msg: fmt.Sprintf("%d is out of range: 1 to %d", s.Queries, uint32(maxSyntheticRows))}
	case !(s.Spread > 0 && s.Spread <= 1e6):
		return &param.Error{Param: "spread", Msg: fmt.Sprintf("%v is out of range: above 0, up to 1e6", s.Spread)}
	}
	return nil
}

// The streams of random numbers that one seed gives.
const (
	streamCentres = iota + 1
	streamBase
	streamQueries
)

// Base is the N base rows. If s is not valid, the reader is empty and every Read gives Validate's error.
func (s Synthetic) Base() VectorReader { return s.reader(streamBase, s.N) }

// QuerySet is the Queries query rows, under the same rule.
func (s Synthetic) QuerySet() VectorReader { return s.reader(streamQueries, s.Queries) }

func (s Synthetic) reader(stream uint64, rows int) VectorReader {
	if err := s.Validate(); err != nil {
		return &syntheticReader{err: fmt.Errorf("synthetic vectors: %w", err)}
	}
	r := &syntheticReader{s: s, stream: stream, rows: rows, centres: make([]float32, s.Clusters*s.Dim)}
	for c := range s.Clusters {
		g := newGaussian(s.Seed, streamCentres, uint64(c))
		for j := range s.Dim {
			r.centres[c*s.Dim+j] = float32(g.next())
		}
	}
	return r
}

type syntheticReader struct {
	s       Synthetic
	stream  uint64
	rows    int
	centres []float32 // clusters x dim
	err     error
}

func (r *syntheticReader) Len() int     { return r.rows }
func (r *syntheticReader) Dim() int     { return r.s.Dim }
func (r *syntheticReader) Close() error { return nil }

func (r *syntheticReader) Read(i int, dst []float32) error {
	if r.err != nil {
		return r.err
	}
	if err := checkRead("synthetic vectors", i, r.rows, len(dst), r.s.Dim); err != nil {
		return err
	}
	g := newGaussian(r.s.Seed, r.stream, uint64(i))
	c := int(g.below(uint64(r.s.Clusters)))
	centre := r.centres[c*r.s.Dim : (c+1)*r.s.Dim]
	for j := range dst {
		// The conversions forbid a fused multiply-add, which some platforms have and others do not.
		dst[j] = float32(float64(centre[j]) + float64(r.s.Spread*g.next()))
	}
	return nil
}

// gaussian draws standard normal values. math/rand/v2's own NormFloat64 may differ between platforms in the last bit,
// as it calls math.Exp and math.Log, which some implement in assembly.
type gaussian struct {
	pcg   rand.PCG
	spare float64
	has   bool
}

func newGaussian(seed, stream, row uint64) gaussian {
	var g gaussian
	// Mixed, so that neighbouring rows start from unrelated states.
	g.pcg.Seed(splitmix.Mix(seed^splitmix.Mix(stream)), splitmix.Mix(row))
	return g
}

// below is a uniform number in [0, n); the bias of n/2^64 does not matter here.
func (g *gaussian) below(n uint64) uint64 { return g.pcg.Uint64() % n }

// next is Marsaglia's polar method, which needs a logarithm and a square root and gives two values at a time.
func (g *gaussian) next() float64 {
	if g.has {
		g.has = false
		return g.spare
	}
	for {
		u, v := g.symmetric(), g.symmetric()
		s := float64(u*u) + float64(v*v)
		if s >= 1 || s == 0 {
			continue
		}
		scale := math.Sqrt(-2 * naturalLog(s) / s)
		g.spare, g.has = v*scale, true
		return u * scale
	}
}

// symmetric is uniform in (-1, 1).
func (g *gaussian) symmetric() float64 {
	return float64(float64(int64(g.pcg.Uint64())>>11)/(1<<52)) + 1.0/(1<<53)
}

// naturalLog is the logarithm of x > 0 to about 1e-15, the same to the bit everywhere: with x = m * 2^e and m near 1
// it is e ln 2 + 2 artanh((m-1)/(m+1)), by the series of artanh. The conversions forbid fused operations.
func naturalLog(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	t := (m - 1) / (m + 1)
	square := t * t
	sum := 0.0
	for n := 21; n >= 1; n -= 2 {
		sum = float64(sum*square) + 1/float64(n)
	}
	return float64(float64(e)*math.Ln2) + float64(2*float64(t*sum))
}
