package embedders

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontier/internal/param"
)

// small is enough text for a basis of a few dimensions.
func small() []string {
	topics := []string{"the wing lifts the aeroplane", "http.Server.Shutdown stops a server", "bread is baked of flour and water", "context.WithTimeout cancels work"}
	var out []string
	for i := range 60 {
		out = append(out, fmt.Sprintf("%s while word%d and word%d stand by", topics[i%len(topics)], i, i/2))
	}
	return append(out, "", "!?")
}

func smallParams(kind string) param.Values {
	if kind == "lsa" {
		return param.Values{"dim": 16}
	}
	return param.Values{"dim": 64, "char_ngrams": 3}
}

func TestVectorsAreUnitOrZero(t *testing.T) {
	for _, k := range Kinds() {
		e := mustFit(t, k.Name, smallParams(k.Name), 1, small())
		checkUnit(t, e, "Wing!")
		for _, text := range []string{"", " \n", "...", "zzzzqqqq"} {
			if v := embedList(t, e, []string{text})[0]; slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) && (k.Name == "lsa" || text != "zzzzqqqq") { // n-grams of hash may be known
				t.Errorf("%s: %q is not the zero vector", k.Name, text)
			}
		}
		if err := e.Embed("wing", make([]float32, e.Dim()+1)); err == nil {
			t.Errorf("%s accepts a vector of the wrong length", k.Name)
		}
	}
}

func TestSameSeedSameVectors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, k := range Kinds() {
		runtime.GOMAXPROCS(1)
		want := embedList(t, mustFit(t, k.Name, smallParams(k.Name), 5, small()), small())
		runtime.GOMAXPROCS(4)
		got := embedList(t, mustFit(t, k.Name, smallParams(k.Name), 5, small()), small())
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: text %d differs", k.Name, i)
			}
		}
	}
	a, b := mustFit(t, "hash", nil, 1, small()), mustFit(t, "hash", nil, 2, small())
	if slices.Equal(embedList(t, a, []string{"wing"})[0], embedList(t, b, []string{"wing"})[0]) {
		t.Error("hash does not depend on the seed")
	}
}

func TestSimilarTextsAreNear(t *testing.T) {
	for _, k := range Kinds() {
		e := mustFit(t, k.Name, smallParams(k.Name), 1, small())
		v := embedList(t, e, []string{"how to shut down a server", "stopping http servers: Shutdown", "baking bread"})
		if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < far+0.2 {
			t.Errorf("%s: cosine %.3f to the similar text, %.3f to the other", k.Name, near, far)
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestFitSampleIsUsed(t *testing.T) {
	texts := slices.Repeat(small(), 20)
	e := mustFit(t, "lsa", param.Values{"dim": 4, "fit_sample": 50}, 1, texts)
	all := mustFit(t, "lsa", param.Values{"dim": 4, "fit_sample": len(texts)}, 1, texts)
	if some, all := len(e.(*lsa).terms), len(all.(*lsa).terms); some >= all {
		t.Errorf("50 texts have given %d terms, all have given %d", some, all)
	}
	positions, n, err := sampled(context.Background(), list(texts), 50, 1)
	if err != nil || n != len(texts) || len(positions) != 50 || !slices.IsSorted(positions) || positions[49] < 200 || len(slices.Compact(positions)) != 50 {
		t.Errorf("the sample of %d texts is %v, %v", n, positions, err)
	}
}

func TestVocabularyLimits(t *testing.T) {
	texts := slices.Repeat([]string{"common alpha", "common beta", "common beta gamma"}, 50)
	texts = append(texts, "common unique")
	l := mustFit(t, "lsa", param.Values{"dim": 2, "stem": false}, 1, texts).(*lsa)
	if want := []string{"alpha", "beta", "common", "gamma"}; !slices.Equal(l.terms, want) {
		t.Errorf("min_df 2 keeps %q", l.terms)
	}
	l = mustFit(t, "lsa", param.Values{"dim": 2, "max_features": 2, "stem": false}, 1, texts).(*lsa)
	if want := []string{"beta", "common"}; !slices.Equal(l.terms, want) {
		t.Errorf("max_features 2 keeps %q", l.terms)
	}
	l = mustFit(t, "lsa", param.Values{"dim": 2, "min_df": 5, "stem": false}, 1, texts[:3]).(*lsa)
	if len(l.terms) != 4 {
		t.Errorf("of few texts, %q are kept", l.terms)
	}
}

func TestFitErrors(t *testing.T) {
	ctx := context.Background()
	lsa := Find(Kinds(), "lsa")
	var bad *param.Error

	// Four different texts of their own words, each twice: rank 4.
	texts := slices.Repeat([]string{"alpha", "beta", "gamma delta", "epsilon"}, 2)
	_, err := lsa.Fit(ctx, complete(t, "lsa", param.Values{"dim": 5}), 1, list(texts))
	if !errors.As(err, &bad) || bad.Param != "dim" || !strings.Contains(bad.Msg, "largest possible is 4 ") {
		t.Errorf("dim above the rank: %v", err)
	}
	if _, err := lsa.Fit(ctx, complete(t, "lsa", param.Values{"dim": 4}), 1, list(texts)); err != nil {
		t.Errorf("dim equal to the rank: %v", err)
	}
	if _, err := lsa.Fit(ctx, complete(t, "lsa", nil), 1, list([]string{"", "?!"})); !errors.As(err, &bad) {
		t.Errorf("texts without words: %v", err)
	}
	if _, err := lsa.Fit(ctx, complete(t, "lsa", nil), 1, list(nil)); err == nil || !strings.Contains(err.Error(), "no texts") {
		t.Errorf("no texts: %v", err)
	}

	cause := errors.New("disk on fire")
	failing := func() iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { _ = yield("fine", nil) && yield("", cause) }
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, k := range Kinds() {
		p := complete(t, k.Name, smallParams(k.Name))
		if _, err := k.Fit(ctx, p, 1, failing); !errors.Is(err, cause) || !strings.Contains(err.Error(), "text 1") {
			t.Errorf("%s: a text that cannot be read: %v", k.Name, err)
		}
		if _, err := k.Fit(cancelled, p, 1, list(small())); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", k.Name, err)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			p := complete(t, k.Name, smallParams(k.Name))
			e := mustFit(t, k.Name, smallParams(k.Name), 9, small())
			dir := t.TempDir()
			if err := e.Save(dir); err != nil {
				t.Fatal(err)
			}
			back, err := k.Load(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			texts := append(small(), "unseen words of wings")
			want, got := embedList(t, e, texts), embedList(t, back, texts)
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("text %d differs after loading", i)
				}
			}
			p["stem"] = false
			if _, err := k.Load(dir, p); err == nil || !strings.Contains(err.Error(), "stem") {
				t.Errorf("other parameters: %v", err)
			}
			if _, err := k.Load(t.TempDir(), p); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("no file: %v", err)
			}
			if err := e.Save(filepath.Join(dir, "absent")); err == nil {
				t.Error("saving to a folder that does not exist succeeds")
			}
		})
	}
}

func TestDamagedModelsAreRefused(t *testing.T) {
	for _, k := range Kinds() {
		p := complete(t, k.Name, smallParams(k.Name))
		dir := t.TempDir()
		if err := mustFit(t, k.Name, smallParams(k.Name), 9, small()).Save(dir); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, k.Name+".model")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refuse := func(what string, data []byte) {
			t.Helper()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Load(dir, p); err == nil || !strings.Contains(err.Error(), "byte ") {
				t.Errorf("%s: %s: %v", k.Name, what, err)
			}
		}
		step := max(1, len(whole)/200)
		for n := 0; n < len(whole); n += step {
			refuse(fmt.Sprintf("cut to %d bytes", n), whole[:n])
			damaged := slices.Clone(whole)
			damaged[n] ^= 0x10
			refuse(fmt.Sprintf("byte %d damaged", n), damaged)
		}
		// The same with a checksum that fits, so that every length is reached: nothing that is left out, or added, passes.
		for n := len(modelMagic) + 4; n < len(whole)-4; n += step {
			refuse(fmt.Sprintf("cut to %d bytes and signed", n), sign(whole[:n]))
		}
		refuse("eight bytes more", sign(append(slices.Clone(whole[:len(whole)-4]), make([]byte, 8)...)))
	}
}

func sign(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(data), crc32.Checksum(data, castagnoli()))
}

// Any bytes behind a valid header and before a valid checksum: an error or an embedder, never a crash or a huge
// allocation.
func FuzzLoad(f *testing.F) {
	for i, k := range Kinds() {
		dir := f.TempDir()
		if err := mustFit(f, k.Name, smallParams(k.Name), 9, small()).Save(dir); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, k.Name+".model"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:len(data)-4], uint8(i))
		f.Add(data[:len(data)/2], uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		k := Kinds()[int(which)%len(Kinds())]
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, k.Name+".model"), sign(data), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := k.Load(dir, complete(t, k.Name, smallParams(k.Name)))
		if err == nil {
			embedList(t, e, small()[:4])
		}
	})
}

func TestEmbeddersAreSafeForConcurrentUse(t *testing.T) {
	for _, k := range Kinds() {
		e := mustFit(t, k.Name, smallParams(k.Name), 1, small())
		want := embedList(t, e, small())
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				dst := make([]float32, e.Dim())
				for n := range want {
					i := (n*5 + g*13) % len(want)
					if err := e.Embed(small()[i], dst); err != nil || !slices.Equal(dst, want[i]) {
						t.Errorf("%s: text %d differs beside others: %v", k.Name, i, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestEmbedAllocatesLittle(t *testing.T) {
	if underRace {
		t.Skip("the race detector empties pools at random")
	}
	for _, k := range Kinds() {
		e := mustFit(t, k.Name, smallParams(k.Name), 1, small())
		dst := make([]float32, e.Dim())
		allocs := testing.AllocsPerRun(200, func() {
			if err := e.Embed("How do I stop an http.Server with context.WithTimeout?", dst); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 4 {
			t.Errorf("%s: %v allocations a query", k.Name, allocs)
		}
	}
}

func TestEmbedAllKeepsTheOrder(t *testing.T) {
	e := mustFit(t, "hash", smallParams("hash"), 1, small())
	for _, n := range []int{0, 1, batchTexts - 1, batchTexts, 3*batchTexts + 5} {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf("the wing of word%d", i%60)
		}
		for _, workers := range []int{0, 1, 3} {
			var rows []float32
			written, err := EmbedAll(context.Background(), e, list(texts), workers, func(r []float32) error {
				rows = append(rows, r...)
				return nil
			})
			if err != nil || written != n {
				t.Fatalf("%d texts: wrote %d, %v", n, written, err)
			}
			if want := slices.Concat(embedList(t, e, texts)...); !slices.Equal(rows, want) {
				t.Errorf("%d texts by %d workers: the rows differ", n, workers)
			}
		}
	}
}

type brokenEmbedder struct{ Embedder }

var errBroken = errors.New("broken")

func (b brokenEmbedder) Embed(text string, dst []float32) error {
	if strings.HasSuffix(text, "100") {
		return errBroken
	}
	return b.Embedder.Embed(text, dst)
}

func TestEmbedAllStopsAtTheFirstError(t *testing.T) {
	e := mustFit(t, "hash", smallParams("hash"), 1, small())
	texts := make([]string, 10*batchTexts)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	ignore := func([]float32) error { return nil }
	if _, err := EmbedAll(context.Background(), brokenEmbedder{e}, list(texts), 2, ignore); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "text 100") {
		t.Errorf("an embedder that fails: %v", err)
	}
	full := errors.New("disk full")
	calls := 0
	n, err := EmbedAll(context.Background(), e, list(texts), 2, func([]float32) error {
		if calls++; calls == 3 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || n != 2*batchTexts {
		t.Errorf("a writer that fails: %d, %v", n, err)
	}
	cause := errors.New("unreadable")
	failing := func() iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { _ = yield("fine", nil) && yield("", cause) }
	}
	if _, err := EmbedAll(context.Background(), e, failing, 2, ignore); !errors.Is(err, cause) || !strings.Contains(err.Error(), "text 1") {
		t.Errorf("texts that fail: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = EmbedAll(ctx, e, list(texts), 2, func([]float32) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestKindsAreComplete(t *testing.T) {
	for _, k := range Kinds() {
		if k.Doc == "" || k.Fit == nil || k.Load == nil || k.Version < 1 {
			t.Errorf("%s: %+v", k.Name, k)
		}
		for _, s := range k.Params {
			if s.Doc == "" || s.Default == nil {
				t.Errorf("%s.%s has no doc or default", k.Name, s.Name)
			} else if _, err := s.Check(s.Default); err != nil {
				t.Errorf("%s.%s: its default is refused: %v", k.Name, s.Name, err)
			}
		}
	}
	if Find(Kinds(), "word2vec") != nil {
		t.Error("an unknown kind was found")
	}
}
