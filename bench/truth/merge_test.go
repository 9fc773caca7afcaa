package truth

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontier/internal/vector"

	"pgregory.net/rapid"
)

func TestShardsDivideTheBase(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.IntRange(1, 1<<40).Draw(rt, "rows")
		count := rapid.IntRange(1, min(rows, 300)).Draw(rt, "count")
		end := 0
		for i := 1; i <= count; i++ {
			s, err := ParseShard(fmt.Sprintf("%d/%d", i, count))
			if err != nil {
				rt.Fatal(err)
			}
			from, to := s.Range(rows)
			if from != end || to-from != rows/count && to-from != rows/count+1 {
				rt.Fatalf("%v of %d rows is %d to %d, after %d", s, rows, from, to, end)
			}
			end = to
		}
		if end != rows {
			rt.Fatalf("%d shards end at %d of %d rows", count, end, rows)
		}
	})
	for _, bad := range []string{"", "1", "0/2", "3/2", "-1/2", "1/0", "1/2/3", "a/b"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("%q is a shard", bad)
		}
	}
}

func TestMergedShardsAreTheWhole(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		s, want := small(t, rt)
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			rt.Fatal(err)
		}
		s.Audit = rapid.Bool().Draw(rt, "audit")
		count := rapid.IntRange(1, min(s.Base.Len(), 6)).Draw(rt, "shards")
		var paths []string
		for i := 1; i <= count; i++ {
			part := *s
			part.Shard = Shard{i, count}
			part.BaseFile.Path, part.BaseFile.Modified = fmt.Sprint("/machine", i), int64(i)
			paths = append(paths, writeShard(t, &part, dir))
		}
		m, err := Merge(rapid.Permutation(paths).Draw(rt, "order"))
		if err != nil {
			rt.Fatal(err)
		}
		for range 2 {
			equal(t, each(t, m), want)
		}
		if m.Queries() != s.Queries.Len() || !m.Header.Shard.Whole() || m.Header.Held != want.K || m.Header.check() != nil {
			rt.Fatalf("%+v", m.Header)
		}
		if s.Audit != (m.Header.Audit != nil) || s.Audit && m.Header.Audit.Rows != s.Base.Len() {
			rt.Fatalf("audit %+v", m.Header.Audit)
		}
	})
}

func writeShard(t testing.TB, s *Search, dir string) string {
	t.Helper()
	f, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%d.shard", s.Shard.Index))
	if err := f.WriteShard(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMergeRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	base, queries := matrix(t, tied(rng, 90, 4), 4), matrix(t, tied(rng, 5, 4), 4)
	shard := func(i int, change func(*Search)) string {
		s := search(base, queries, vector.L2, 3)
		s.Shard = Shard{i, 3}
		change(s)
		return writeShard(t, s, t.TempDir())
	}
	same := func(*Search) {}
	one, two, three := shard(1, same), shard(2, same), shard(3, same)
	audited := func(i int, a *Audit) string {
		s := search(base, queries, vector.L2, 3)
		s.Shard = Shard{i, 3}
		f, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.Header.Audit = a
		path := filepath.Join(t.TempDir(), "audited.shard")
		if err := f.WriteShard(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cut := shard(3, same)
	if err := os.Truncate(cut, 600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("not a shard, but long enough to be taken for one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"none":             {nil, "no shards"},
		"missing":          {[]string{one, three}, "of 3 shards, 1 are missing: 2/3"},
		"twice":            {[]string{one, two, three, shard(2, same)}, "shard 2/3 is also in " + two},
		"another metric":   {[]string{one, two, shard(3, func(s *Search) { s.Metric = vector.IP })}, "is not of the same search as " + one + ": the metric was l2 and is ip"},
		"another k":        {[]string{one, two, shard(3, func(s *Search) { s.K = 9 })}, "k was 3 and is 9"},
		"another base":     {[]string{one, two, shard(3, func(s *Search) { s.BaseFile.Digest = "x" })}, "the content of the base rows has changed"},
		"other queries":    {[]string{one, two, shard(3, func(s *Search) { s.QueryFile.Digest = "x" })}, "the content of the queries has changed"},
		"another division": {[]string{one, two, shard(3, func(s *Search) { s.Shard.Count = 4 })}, "is one of 4 shards, but " + one + " is one of 3"},
		"the whole":        {[]string{shard(0, func(s *Search) { s.Shard = Shard{} })}, "the whole base"},
		"cut short":        {[]string{one, two, cut}, "do not make a file of 600 bytes"},
		"an odd audit":     {[]string{audited(1, &Audit{}), audited(2, &Audit{}), audited(3, &Audit{})}, "an audit of one in 0 rows in 0 shards"},
		"no shard":         {[]string{text}, "is not a shard of a truth"},
		"absent":           {[]string{text + "x"}, "no such file"},
	} {
		if _, err := Merge(c.paths); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", name, err, c.want)
		}
	}

	// A changed value is found when all is read.
	m, err := Merge([]string{one, two, three})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(three)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-40] ^= 1 // of a distance
	if err := os.WriteFile(three, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Each(func([]int64, []float64) error { return nil }); err == nil || !strings.Contains(err.Error(), three+": the content is not what was written") {
		t.Errorf("a changed shard: %v", err)
	}
}

func FuzzReadShard(f *testing.F) {
	rng := rand.New(rand.NewPCG(4, 4))
	base, queries := matrix(f, tied(rng, 9, 2), 2), matrix(f, tied(rng, 2, 2), 2)
	s := search(base, queries, vector.L2, 3)
	s.Shard = Shard{1, 1}
	dir := f.TempDir()
	path := writeShard(f, s, dir)
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Merge([]string{path})
		if err != nil {
			return
		}
		rows := 0
		err = m.Each(func(ids []int64, _ []float64) error {
			rows++
			if len(ids) != m.K() {
				t.Errorf("%d ids, K is %d", len(ids), m.K())
			}
			return nil
		})
		if err == nil && rows != m.Queries() {
			t.Errorf("%d rows of %d queries", rows, m.Queries())
		}
	})
}
