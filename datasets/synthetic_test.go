package datasets

import (
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"frontier/internal/param"
)

func syntheticExample() Synthetic {
	return Synthetic{N: 5000, Dim: 24, Clusters: 8, Queries: 300, Spread: 0.25, Seed: 42}
}

func TestSyntheticIsRandomAccess(t *testing.T) {
	s := syntheticExample()
	all, err := readRows(s.Base())
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, s.Dim)
	again := s.Base()
	for _, i := range []int{4999, 0, 17, 4998, 17} {
		if err := again.Read(i, row); err != nil || !slices.Equal(row, all[i]) {
			t.Errorf("row %d read alone differs: %v", i, err)
		}
	}
	longer := s
	longer.N = 9000
	if err := longer.Base().Read(17, row); err != nil || !slices.Equal(row, all[17]) {
		t.Errorf("row 17 of a longer set differs: %v", err)
	}
	other := s
	other.Seed++
	if err := other.Base().Read(17, row); err != nil || slices.Equal(row, all[17]) {
		t.Errorf("another seed gives the same row: %v", err)
	}
}

// The values are part of the product: a result is only comparable with an older one if the data set did not change.
func TestSyntheticIsPinned(t *testing.T) {
	s := syntheticExample()
	h := fnv.New64a()
	for _, r := range []VectorReader{s.Base(), s.QuerySet()} {
		rows, err := readRows(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			h.Write(floatBytes(row)) // little-endian on every platform that this builds for
		}
	}
	if got := h.Sum64(); got != 0xd2c36f7777cae0d9 {
		t.Errorf("the digest of the example is %#x", got)
	}
}

func TestSyntheticDistribution(t *testing.T) {
	s := syntheticExample()
	s.N, s.Queries, s.Clusters = 20000, 4000, 5
	reader := s.Base().(*syntheticReader)
	sizes := make([]int, s.Clusters)
	sum := make([]float64, s.Clusters*s.Dim)
	squares, neighbours := 0.0, 0.0
	last := make([]float64, s.Dim)
	for i, row := range mustRead(t, reader) {
		c := nearestCentre(reader, row)
		sizes[c]++
		for j, v := range row {
			z := (float64(v) - float64(reader.centres[c*s.Dim+j])) / s.Spread
			sum[c*s.Dim+j] += z
			squares += z * z
			if i > 0 {
				neighbours += z * last[j]
			}
			last[j] = z
		}
	}
	n := float64(s.N * s.Dim)
	// Five standard errors: these cannot fail by chance, as the seed is fixed, but only by a wrong generator.
	if v := squares / n; math.Abs(v-1) > 5*math.Sqrt(2/n) {
		t.Errorf("the variance within clusters is %v spreads squared", v)
	}
	if v := neighbours / n; math.Abs(v) > 5/math.Sqrt(n) {
		t.Errorf("rows next to each other have the correlation %v", v)
	}
	for c, size := range sizes {
		p := 1 / float64(s.Clusters)
		if math.Abs(float64(size)-p*float64(s.N)) > 5*math.Sqrt(p*(1-p)*float64(s.N)) {
			t.Errorf("cluster %d has %d of %d rows", c, size, s.N)
		}
		for j := range s.Dim {
			if mean := sum[c*s.Dim+j] / float64(size); math.Abs(mean) > 5/math.Sqrt(float64(size)) {
				t.Errorf("cluster %d, column %d: the mean is off its centre by %v spreads", c, j, mean)
			}
		}
	}
	base := mustRead(t, reader)
	for i, q := range mustRead(t, s.QuerySet()) {
		if slices.Equal(q, base[i]) {
			t.Fatalf("query %d is base row %d", i, i)
		}
		c := nearestCentre(reader, q)
		if d := squaredTo(reader, c, q) / (s.Spread * s.Spread); d > 4*float64(s.Dim) {
			t.Errorf("query %d is %v spreads squared from the nearest centre", i, d)
		}
	}
}

func mustRead(t *testing.T, r VectorReader) [][]float32 {
	t.Helper()
	rows, err := readRows(r)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func nearestCentre(r *syntheticReader, row []float32) int {
	best := 0
	for c := range r.s.Clusters {
		if squaredTo(r, c, row) < squaredTo(r, best, row) {
			best = c
		}
	}
	return best
}

func squaredTo(r *syntheticReader, c int, row []float32) float64 {
	sum := 0.0
	for j, v := range row {
		d := float64(v) - float64(r.centres[c*r.s.Dim+j])
		sum += d * d
	}
	return sum
}

func TestNaturalLog(t *testing.T) {
	for x := 1e-300; x < 1; x *= 1.37 {
		if got, want := naturalLog(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Abs(want)+1e-16 {
			t.Errorf("ln %g = %.17g, want %.17g", x, got, want)
		}
	}
	for _, x := range []float64{1, 0.5, math.Nextafter(1, 0), math.Sqrt2 / 2, 0.999, 0.70710678} {
		if got, want := naturalLog(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Errorf("ln %g = %.17g, want %.17g", x, got, want)
		}
	}
}

func TestSyntheticValidate(t *testing.T) {
	if err := syntheticExample().Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Synthetic){
		"n":        func(s *Synthetic) { s.N = 0 },
		"dim":      func(s *Synthetic) { s.Dim = 1 << 17 },
		"clusters": func(s *Synthetic) { s.Clusters = s.N + 1 },
		"queries":  func(s *Synthetic) { s.Queries = -1 },
		"spread":   func(s *Synthetic) { s.Spread = math.NaN() },
	} {
		s := syntheticExample()
		change(&s)
		var fault *param.Error
		if err := s.Validate(); !errors.As(err, &fault) || fault.Param != name {
			t.Errorf("%s: %v", name, err)
		}
		if r := s.Base(); r.Len() != 0 || !errors.As(r.Read(0, nil), &fault) {
			t.Errorf("%s: the base can be read", name)
		}
	}
	s := syntheticExample()
	s.N, s.Dim, s.Clusters = 1<<30, 1<<16, 1<<20
	if s.Validate() == nil {
		t.Error("centres of 256 GiB are accepted")
	}
}

func BenchmarkSyntheticRead(b *testing.B) {
	s := Synthetic{N: 1 << 20, Dim: 128, Clusters: 200, Queries: 1, Spread: 0.3, Seed: 1}
	base := s.Base()
	row := make([]float32, s.Dim)
	b.SetBytes(int64(4 * s.Dim))
	i := 0
	for b.Loop() {
		if err := base.Read(i%s.N, row); err != nil || notFinite(row) >= 0 {
			b.Fatal(err, row)
		}
		i += 7919
	}
}
