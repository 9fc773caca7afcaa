package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rankings are a run as ReadRun gives it, by query; a result is written as document, score and line.
func rankings(r io.Reader, o RunOptions) (map[string][]string, error) {
	all, mu := map[string][]string{}, sync.Mutex{}
	err := ReadRun(context.Background(), "run", r, o, func(_ int, ranking *Ranking) error {
		mu.Lock()
		defer mu.Unlock()
		if _, again := all[ranking.Query]; again || len(ranking.Results) == 0 || ranking.Line != ranking.Results[0].Line {
			return fmt.Errorf("visited %+v, again: %v", ranking, again)
		}
		for _, result := range ranking.Results {
			all[ranking.Query] = append(all[ranking.Query], fmt.Sprintf("%s %v %d", result.Document, result.Score, result.Line))
		}
		return nil
	})
	return all, err
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    map[string][]string
	}{
		"plain":                 {"1 Q0 a 1 2.5 x\n1 Q0 b 2 1 x\n2 Q0 a 1 -3 x\n", map[string][]string{"1": {"a 2.5 1", "b 1 2"}, "2": {"a -3 3"}}},
		"no end of line":        {"1 Q0 a 1 2.5 x", map[string][]string{"1": {"a 2.5 1"}}},
		"CRLF, mark, blanks":    {"\ufeff1 Q0 a 1 2.5 x\r\n\r\n  \t1\tQ0\tb  2 1 x \t\r\n", map[string][]string{"1": {"a 2.5 1", "b 1 3"}}},
		"comments":              {"# 1 Q0 z 1 1 x\n1 Q0 a 1 2 x\n  # c\n1 Q0 #b 1 1 x\n", map[string][]string{"1": {"a 2 2", "#b 1 4"}}},
		"exponents":             {"1 Q0 a 1 1.5e-3 x\n1 Q0 b 1 2E+2 x\n1 Q0 c 1 -1e0 x\n", map[string][]string{"1": {"a 0.0015 1", "b 200 2", "c -1 3"}}},
		"infinity":              {"1 Q0 a 1 inf x\n1 Q0 b 2 -Infinity x\n", map[string][]string{"1": {"a +Inf 1", "b -Inf 2"}}},
		"any rank, any Q0":      {"1 0 a first 1 x\n1 Q9 b - 2 y\n", map[string][]string{"1": {"a 1 1", "b 2 2"}}},
		"ids with umlauts":      {"fräge Q0 dök 1 1 x\n", map[string][]string{"fräge": {"dök 1 1"}}},
		"an id that begins one": {"1 Q0 a 1 1 x\n11 Q0 a 1 1 x\n", map[string][]string{"1": {"a 1 1"}, "11": {"a 1 2"}}},
	} {
		for _, o := range []RunOptions{{Workers: 1}, {Workers: 3}, {Workers: 2, Scattered: true}} {
			got, err := rankings(strings.NewReader(c.content), o)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %+v: got %v, %v; want %v", name, o, got, err, c.want)
			}
		}
	}
}

func TestRunFaults(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		parts   []string
	}{
		"empty":              {"", []string{"run: the run holds no results", "query Q0 document"}},
		"only comments":      {"# a\n\n", []string{"no results"}},
		"letter O":           {"1 Q0 a 1 1 x\n1 Q0 b 2 O.5 x\n", []string{"run:2:10: ", `score "O.5"`, "letter O"}},
		"column in points":   {"1 Q0 ä 1 1O x\n", []string{"run:1:10: ", "letter O"}},
		"comma":              {"1 Q0 a 1 0,5 x\n", []string{"run:1:10: ", "comma"}},
		"no number":          {"1 Q0 a 1 high x\n", []string{"run:1:10: ", `score "high" is not a number`}},
		"NaN":                {"1 Q0 a 1 nan x\n", []string{"run:1:10: ", "not a number, and has no place"}},
		"too large":          {"1 Q0 a 1 1e999 x\n", []string{"run:1:10: ", "beyond"}},
		"judgements":         {"1 0 a 1\n", []string{"run:1: ", "4 columns in place of 6", "judgements?"}},
		"no tag":             {"1 Q0 a 1 2\n", []string{"run:1: ", "5 columns", "tag missing?"}},
		"blank in an id":     {"1 Q0 a b 1 2 x\n", []string{"run:1: ", "7 columns", "blanks"}},
		"cut off":            {"1 Q0 a 1 2 x\n1 Q0", []string{"run:2: ", "2 columns"}},
		"Macintosh":          {"1 Q0 a 1 2 x\r1 Q0 b 1 1 x\r", []string{"run:1: ", "carriage returns"}},
		"invalid UTF-8":      {"1 Q0 a 1 2 x\n1 Q0 \xff 1 2 x\n", []string{"run:2:6: ", "0xff", "iconv"}},
		"UTF-16":             {"\xff\xfe1\x00 \x00", []string{"UTF-16"}},
		"large-file pointer": {"version https://git-lfs.github.com/spec/v1\n", []string{"git lfs pull"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, scattered := range []bool{false, true} {
				_, err := rankings(strings.NewReader(c.content), RunOptions{Workers: 2, Scattered: scattered})
				wantError(t, err, c.parts...)
			}
		})
	}
}

func TestRunScattered(t *testing.T) {
	content := "1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n# c\n1 Q0 b 2 1 x\n"
	_, err := rankings(strings.NewReader(content), RunOptions{Workers: 2})
	wantError(t, err, "run:4: ", `query "1" was on line 1 and is here again`, "sort")
	if !errors.Is(err, ErrScattered) {
		t.Errorf("%v is not ErrScattered", err)
	}
	got, err := rankings(strings.NewReader(content), RunOptions{Workers: 2, Scattered: true})
	if want := map[string][]string{"1": {"a 2 1", "b 1 4"}, "2": {"a 2 2"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRunStops(t *testing.T) {
	mine := errors.New("mine")
	err := ReadRun(context.Background(), "run", strings.NewReader("1 Q0 a 1 1 x\n"), RunOptions{}, func(int, *Ranking) error { return mine })
	if !errors.Is(err, mine) {
		t.Errorf("the visitor's error became %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bigRun(1, 10, 10).read(ctx, RunOptions{Workers: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after the end of the context", err)
	}
	broken := io.MultiReader(strings.NewReader("1 Q0 a 1 1 x\n"), failingReader{})
	_, err = rankings(broken, RunOptions{Workers: 1})
	wantError(t, err, "run: cannot read", "torn cable")
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("torn cable") }

// generatedRun is text with the number of results of each query.
type generatedRun struct {
	text  string
	sizes map[string]int
}

// bigRun has queries of up to size results, some of which are longer than a chunk where size allows.
func bigRun(seed uint64, queries, size int) generatedRun {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	g := generatedRun{sizes: map[string]int{}}
	for q := range queries {
		query := "q" + strconv.Itoa(q)
		for d := range 1 + rng.IntN(size) {
			if rng.IntN(50) == 0 {
				b.WriteString("# a comment\n\n")
			}
			fmt.Fprintf(&b, "%s Q0 document-%d %d %d tag\n", query, d, d, -d)
			g.sizes[query]++
		}
	}
	g.text = b.String()
	return g
}

func (g generatedRun) read(ctx context.Context, o RunOptions) (map[string]int, error) {
	lines := strings.Split(g.text, "\n")
	sizes, mu := map[string]int{}, sync.Mutex{}
	err := ReadRun(ctx, "run", strings.NewReader(g.text), o, func(_ int, ranking *Ranking) error {
		for i, result := range ranking.Results {
			if want := fmt.Sprintf("%s Q0 document-%d ", ranking.Query, i); !strings.HasPrefix(lines[result.Line-1], want) || string(result.Document) != fmt.Sprintf("document-%d", i) || result.Score != float64(-i) {
				return fmt.Errorf("result %d is %+v, the line is %q", i, result, lines[result.Line-1])
			}
		}
		mu.Lock()
		defer mu.Unlock()
		sizes[ranking.Query] += len(ranking.Results)
		return nil
	})
	return sizes, err
}

// Chunks are cut between queries, wherever they end.
func TestRunOfManyChunks(t *testing.T) {
	for name, g := range map[string]generatedRun{"short rankings": bigRun(2, 30000, 6), "long rankings": bigRun(3, 3, 90000)} {
		if len(g.text) < 2*runChunk {
			t.Fatalf("%s: %d bytes are too few to test chunks", name, len(g.text))
		}
		for _, o := range []RunOptions{{Workers: 1}, {Workers: 4}, {Workers: 2, Scattered: true}} {
			sizes, err := g.read(context.Background(), o)
			if err != nil || !reflect.DeepEqual(sizes, g.sizes) {
				t.Errorf("%s, %+v: %d rankings of %d, error %v", name, o, len(sizes), len(g.sizes), err)
			}
		}
	}
}

// The byte order mark is no part of the first query, even where that is longer than a chunk.
func TestRunWithMarkBeforeLongRanking(t *testing.T) {
	want := 2 * runChunkFirst / len("q Q0 d 1 1 x\n")
	got, err := rankings(strings.NewReader(utf8BOM+strings.Repeat("q Q0 d 1 1 x\n", want)), RunOptions{Workers: 2})
	if err != nil || len(got) != 1 || len(got["q"]) != want {
		t.Errorf("%d rankings, the first of %d results, want %d: %v", len(got), len(got["q"]), want, err)
	}
}

// Of several faults the first in the file is told, whichever worker meets one first.
func TestRunTellsFirstFault(t *testing.T) {
	lines := strings.Split(bigRun(4, 15000, 4).text, "\n")
	for _, at := range []int{len(lines) / 3, len(lines)/3 + 9, len(lines) / 2, len(lines) - 5} {
		lines[at] = "q Q0 d 1 broken x"
	}
	first := slices.Index(lines, "q Q0 d 1 broken x") + 1
	for range 3 {
		for _, scattered := range []bool{false, true} {
			_, err := rankings(strings.NewReader(strings.Join(lines, "\n")), RunOptions{Workers: 4, Scattered: scattered})
			wantError(t, err, fmt.Sprintf("run:%d:10:", first))
		}
	}
}

func TestParsePlainEqualsStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	plain := 0
	for range 200000 {
		text := []byte(strconv.FormatFloat((rng.Float64()-0.5)*[]float64{1, 1e3, 1e9, 1e14}[rng.IntN(4)], 'f', rng.IntN(12), 64))
		if rng.IntN(4) == 0 {
			text[rng.IntN(len(text))] = "0123456789.-+e"[rng.IntN(14)]
		}
		got, ok := parsePlain(text)
		if !ok {
			continue
		}
		plain++
		if want, err := strconv.ParseFloat(string(text), 64); err != nil || got != want {
			t.Fatalf("%q: got %v, strconv has %v, %v", text, got, want, err)
		}
	}
	if plain < 50000 {
		t.Errorf("only %d of the numbers were plain", plain)
	}
	for _, text := range []string{"", "-", ".", "-.", "1.2.3", "--1", "1-", "+1", "1e5", "0x10", "1234567890123456"} {
		if _, ok := parsePlain([]byte(text)); ok {
			t.Errorf("%q was taken for plain", text)
		}
	}
}
