package truth

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"frontier/internal/vector"

	"pgregory.net/rapid"
)

func TestAuditCountsLikeAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dim := rapid.IntRange(1, 3).Draw(rt, "dim")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		base := matrix(t, tied(rng, rapid.IntRange(1, 600).Draw(rt, "rows"), dim), dim)
		queries := matrix(t, tied(rng, rapid.IntRange(1, 20).Draw(rt, "queries"), dim), dim)
		text := func(row []float32) string {
			var key [3]float32
			copy(key[:], row)
			var b strings.Builder
			for _, v := range key {
				b.WriteByte(byte(int(v) + 10))
			}
			return b.String()
		}
		first, asked := map[string]int{}, map[string]bool{}
		for q := range queries.Len() {
			asked[text(queries.Row(q))] = true
		}
		zero, again, equal := 0, 0, 0
		for i := range base.Len() {
			key := text(base.Row(i))
			if _, seen := first[key]; seen {
				again++
			} else {
				first[key] = i
			}
			if asked[key] {
				equal++
			}
			if key == text(make([]float32, dim)) {
				zero++
			}
		}
		s := search(base, queries, vector.Cosine, 1)
		s.Audit = true
		smallSteps(s)
		f, err := s.Run(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		a := f.Header.Audit
		if a.Rows != base.Len() || a.Zero != zero || a.Duplicates != again || a.QueryRows != equal || a.DuplicateShare != 1 {
			rt.Fatalf("%+v; want %d zero, %d duplicates, %d queries", a, zero, again, equal)
		}
		for _, pair := range a.DuplicateExamples {
			if first[text(base.Row(pair[1]))] != pair[0] || pair[0] >= pair[1] {
				rt.Fatalf("%v is not a first row and a later one", pair)
			}
		}
		for _, pair := range a.QueryExamples {
			if text(queries.Row(pair[0])) != text(base.Row(pair[1])) {
				rt.Fatalf("query %d and row %d differ", pair[0], pair[1])
			}
		}
		if len(a.ZeroExamples) != min(zero, auditExamples) || len(a.DuplicateExamples) != min(again, auditExamples) || len(a.QueryExamples) != min(equal, auditExamples) {
			rt.Fatalf("%+v", a)
		}
		want := 0
		for _, n := range []int{zero, again, equal} {
			if n > 0 {
				want++
			}
		}
		if got := a.Warnings(vector.Cosine); len(got) != want {
			rt.Fatalf("%+v gives %q", a, got)
		}
	})
}

// A table that is too small keeps all rows of some hashes, and none of the others.
func TestRowTableThinsOut(t *testing.T) {
	const distinct, copies = 5000, 4
	rng := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, distinct)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	table := newRowTable(distinct, 200)
	for range copies {
		for i, h := range hashes {
			if earlier, again := table.add(h, i); again && earlier != i {
				t.Fatalf("row %d is taken for row %d", i, earlier)
			}
		}
	}
	n, share := table.repeats()
	kept := 0
	for _, h := range hashes {
		if h%uint64(share) == 0 {
			kept++
		}
	}
	// Those that were thinned out by later halvings were forgotten in time: nothing of them is counted.
	if share < distinct/128 || share > distinct/16 || n != kept*(copies-1) {
		t.Errorf("%d repeats among 1 in %d hashes, of which %d distinct ones have %d", n, share, kept, kept*(copies-1))
	}
	if len(table.entries) != 128 {
		t.Errorf("the table has grown to %d", len(table.entries))
	}
	if _, again := table.add(0, 7); again {
		t.Error("a hash of 0 was seen before")
	}
	if earlier, again := table.add(0, 8); !again || earlier != 7 {
		t.Errorf("a hash of 0 again: %d, %v", earlier, again)
	}
}

func TestHashRow(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	plain, zero := hashRow([]float32{0, 0, 0})
	if other, z := hashRow([]float32{minus, 0, minus}); other != plain || !z || !zero {
		t.Error("-0 is not 0")
	}
	if other, z := hashRow([]float32{0, 0, 1e-45}); other == plain || z {
		t.Error("the last of an odd number of values is not seen")
	}
	seen := map[uint64]bool{}
	var ones [64]int
	for i := range 20000 {
		row := []float32{float32(i % 20), float32(i / 20), 1}
		h, _ := hashRow(row)
		if seen[h] {
			t.Fatalf("%v has the hash of another row", row)
		}
		seen[h] = true
		for b := range ones {
			ones[b] += int(h >> b & 1)
		}
	}
	for b, n := range ones { // 10000 expected, standard deviation 71
		if n < 9500 || n > 10500 {
			t.Errorf("bit %d is set in %d of 20000 hashes of small whole numbers", b, n)
		}
	}
}

func TestAuditsOfShardsAddUp(t *testing.T) {
	a := &Audit{Rows: 10, Zero: 2, ZeroExamples: []int{1, 2}, Duplicates: 8, DuplicateShare: 1, Shards: 1}
	b := &Audit{Rows: 9, Zero: 1, ZeroExamples: []int{11}, Duplicates: 3, DuplicateShare: 4, QueryRows: 1, QueryExamples: [][2]int{{0, 12}}, Shards: 1}
	got := mergeAudits([]Header{{Audit: a}, {Audit: b}})
	want := &Audit{Rows: 19, Zero: 3, ZeroExamples: []int{1, 2, 11}, Duplicates: 5, DuplicateShare: 4, QueryRows: 1, QueryExamples: [][2]int{{0, 12}}, Shards: 2}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !strings.Contains(strings.Join(got.Warnings(vector.L2), "\n"), "about 20 (5 in a sample of 1 in 4) of 19 base rows repeat an earlier one in the same shard") {
		t.Errorf("%q", got.Warnings(vector.L2))
	}
	// The few of a shard that was looked at in full do not vanish beside one of which only a sample was.
	few := &Audit{Rows: 10, Duplicates: 3, DuplicateShare: 1, DuplicateExamples: [][2]int{{1, 2}}, Shards: 1}
	none := &Audit{Rows: 9, DuplicateShare: 8, Shards: 1}
	if got := mergeAudits([]Header{{Audit: few}, {Audit: none}}); got.Duplicates != 1 || len(got.Warnings(vector.L2)) != 1 {
		t.Errorf("3 duplicates and none in a sample give %+v", got)
	}
	if mergeAudits([]Header{{Audit: a}, {}}) != nil {
		t.Error("an audit of one of two shards is an audit of all")
	}
}
