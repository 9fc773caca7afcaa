package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"frontier/internal/testdata"
)

// fullRow sets every column, with cut-offs 1 and 10.
func fullRow(id string) Row {
	r := Row{}
	for _, f := range newCatalogue().expand([]int{1, 10}) {
		switch f.typ {
		case String:
			r[f.name] = f.name + " größer"
		case Int:
			r[f.name] = int64(len(f.name)) << 40
		case Float:
			r[f.name] = 1 / float64(len(f.name))
		case Bool:
			r[f.name] = len(f.name)%2 == 0
		case Time:
			r[f.name] = time.Date(2026, 11, 30, 7, 1, 2, 345678000, time.UTC)
		case Strings:
			r[f.name] = []string{"first", "", "second"}
		case Bytes:
			r[f.name] = []byte{0, 255, 1}
		case FloatMap:
			r[f.name] = map[string]float64{"search": 0.25, "embed_query": 1e-9}
		}
	}
	r["point_id"] = id
	return r
}

func sparseRows() []Row {
	return []Row{
		fullRow("full"),
		{"point_id": "bare"},
		{"point_id": "other", "recall_at_5": 0.5, "warnings": []string{}, "stage_p50_seconds": map[string]float64{}, "latency_histogram": []byte{}},
	}
}

func writeRows(t testing.TB, path string, rows []Row) {
	t.Helper()
	if err := WriteRows(path, rows); err != nil {
		t.Fatal(err)
	}
}

func TestRowsRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.parquet")
	for _, rows := range [][]Row{sparseRows(), {}, {{"point_id": "one"}}} {
		writeRows(t, path, rows)
		got, err := ReadRows(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(rows) || (len(rows) > 0 && !reflect.DeepEqual(got, rows)) {
			t.Errorf("read back %v, want %v", got, rows)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want the one file", entries, err)
	}
}

// Rows beyond one row group, with lists of all lengths around the nulls.
func TestRowsRoundTripOverRowGroups(t *testing.T) {
	rows := make([]Row, rowGroupRows+1234)
	for i := range rows {
		rows[i] = Row{"point_id": "p" + strings.Repeat("x", i%7), "m": int64(i), "status": "ok"}
		if i%3 > 0 {
			rows[i]["warnings"] = slices.Repeat([]string{"w"}, i%5)
		}
		if i%4 > 0 {
			rows[i]["stage_p99_seconds"] = map[string]float64{"search": float64(i)}
		}
	}
	path := filepath.Join(t.TempDir(), "r.parquet")
	writeRows(t, path, rows)
	got, err := ReadRows(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if w, ok := rows[i]["warnings"].([]string); ok && len(w) == 0 {
			rows[i]["warnings"] = []string{}
		}
		if !reflect.DeepEqual(got[i], rows[i]) {
			t.Fatalf("row %d: %v, want %v", i, got[i], rows[i])
		}
	}
}

func TestRowsRoundTripProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	fields := newCatalogue().expand([]int{3, 20})
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]Row, rapid.IntRange(0, 40).Draw(t, "rows"))
		for i := range rows {
			rows[i] = Row{"point_id": rapid.String().Draw(t, "id")}
			for range rapid.IntRange(0, 12).Draw(t, "columns") {
				f := fields[rapid.IntRange(0, len(fields)-1).Draw(t, "column")]
				rows[i][f.name] = drawValue(t, f.typ)
			}
		}
		if err := WriteRows(path, rows); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRows(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(rows) {
			t.Fatalf("%d rows, want %d", len(got), len(rows))
		}
		for i := range rows {
			if !reflect.DeepEqual(got[i], rows[i]) {
				t.Fatalf("row %d: %#v, want %#v", i, got[i], rows[i])
			}
		}
	})
}

func drawValue(t *rapid.T, typ Type) any {
	finite := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	switch typ {
	case Int:
		return rapid.Int64().Draw(t, "int")
	case Float:
		return finite.Draw(t, "float")
	case Bool:
		return rapid.Bool().Draw(t, "bool")
	case Time:
		return time.UnixMicro(rapid.Int64Range(-1e15, 1e16).Draw(t, "time")).UTC()
	case Strings:
		return rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "strings")
	case Bytes:
		return rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes")
	case FloatMap:
		return rapid.MapOfN(rapid.String(), finite, 0, 4).Draw(t, "map")
	}
	return rapid.String().Draw(t, "string")
}

func TestWriteRowsRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	tests := []struct {
		row  Row
		want string
	}{
		{Row{"recal_at_10": 0.5}, `unknown column "recal_at_10" (did you mean "recall_at_10"?)`},
		{Row{"recall_at_K": 0.5}, `unknown column "recall_at_K" (did you mean "recall_at_10"?)`},
		{Row{"recall_at_010": 0.5}, `unknown column "recall_at_010"`},
		{Row{"m": 16}, `column "m": the value is of type int, the column holds int64`},
		{Row{"qps": math.NaN()}, `column "qps": the value is NaN; leave the column out`},
		{Row{"qps": math.Inf(1)}, `column "qps": the value is +Inf`},
		{Row{"qps": nil}, `column "qps": the value is nil`},
		{Row{"name": "\xff"}, `column "name": the text "\xff" is not valid UTF-8`},
		{Row{"warnings": []string{"\xff"}}, `is not valid UTF-8`},
		{Row{"stage_p50_seconds": map[string]float64{"search": math.NaN()}}, `entry "search": the value is NaN`},
	}
	for _, tt := range tests {
		tt.row["point_id"] = "p7"
		err := WriteRows(path, []Row{{"point_id": "fine"}, tt.row})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `row 1 (point "p7")`) {
			t.Errorf("%v: error %v, want one with row, point and %q", tt.row, err, tt.want)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused write left a file: %v", err)
	}
}

func TestReadRowsFindsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "parts"), 0o755); err != nil {
		t.Fatal(err)
	}
	whole, part1, part2 := filepath.Join(dir, "results.parquet"), filepath.Join(dir, "parts", "1.parquet"), filepath.Join(dir, "parts", "2.parquet")
	writeRows(t, part1, []Row{{"point_id": "a"}})
	writeRows(t, part2, []Row{{"point_id": "b"}})
	if err := os.WriteFile(filepath.Join(dir, "parts", ".3.parquet.123.tmp"), []byte("PAR1"), 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(want string, paths ...string) {
		t.Helper()
		rows, err := ReadRows(context.Background(), paths...)
		if err != nil {
			t.Error(err)
			return
		}
		got := ""
		for _, r := range rows {
			got += r.Text("point_id")
		}
		if got != want {
			t.Errorf("%v: points %q, want %q", paths, got, want)
		}
	}
	read("ab", dir)
	read("ab", filepath.Join(dir, "parts"))
	read("ba", part2, part1)
	read("ab", filepath.Join(dir, "parts", "*.parquet"))
	writeRows(t, whole, []Row{{"point_id": "w"}})
	now := time.Now()
	chtimes(t, part1, now.Add(-time.Minute))
	chtimes(t, part2, now.Add(-time.Minute))
	read("w", dir)
	chtimes(t, part2, now.Add(time.Minute)) // a killed run committed a cell after it wrote the whole
	read("ab", dir)

	for path, want := range map[string]string{
		filepath.Join(dir, "none"):    "give a Parquet file",
		filepath.Join(dir, "*.pq"):    "nothing matches",
		t.TempDir():                   "has its sweep finished a cell?",
		filepath.Join(dir, "a[", "*"): "syntax error in pattern",
	} {
		if _, err := ReadRows(context.Background(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", path, err, want)
		}
	}
}

func chtimes(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestReadRowsOfAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "newer.parquet")
	fields := []field{{"point_id", String}, {"from_the_future", Float}, {"nested_future", FloatMap}, {"qps", Float}}
	err := writeParquet(path, fields, 2, func(row, f int) any {
		return []any{"p", 1.5, map[string]float64{"x": 1}, 7.0}[f]
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadRows(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	warnings, _ := rows[1]["warnings"].([]string)
	if len(warnings) != 2 || !strings.Contains(warnings[0], `"from_the_future"`) || rows[1]["qps"] != 7.0 || len(rows[1]) != 3 {
		t.Errorf("row %v, want point, qps and a warning for each unknown column", rows[1])
	}
}

func TestReadRowsRefusesOtherShapes(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		fields []field
		want   string
	}{
		"type":      {[]field{{"point_id", String}, {"qps", Int}}, `column "qps": it is stored as INT64`},
		"list":      {[]field{{"point_id", String}, {"qps", float32s}}, `column "qps": it is stored as FLOAT`},
		"map":       {[]field{{"point_id", String}, {"warnings", FloatMap}}, `column "warnings": it has 2 leaves`},
		"kind":      {[]field{{"query_id", String}}, `there is no column "point_id"`},
		"unstamped": {[]field{{"point_id", String}, {"started_at", Int}}, `not a timestamp`},
	}
	for name, tt := range tests {
		path := filepath.Join(dir, name)
		if err := writeParquet(path, tt.fields, 1, func(int, int) any { return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRows(context.Background(), path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one with the path and %q", name, err, tt.want)
		}
	}
}

// Files from elsewhere that are damaged, read as tables of their own columns: an error, never a hang, a crash or fewer
// rows than the file claims.
func TestDamagedFiles(t *testing.T) {
	for _, name := range []string{"negative_page_size.parquet", "num_values_exceeds_data.parquet"} {
		path := testdata.Path(t, "bad/parquet/"+name)
		if _, err := ReadRows(context.Background(), path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names the file", name, err)
		}
		for _, typ := range []Type{String, Int, Float, Bool, Strings, FloatMap} {
			rows := 0
			_, err := readParquet(context.Background(), path, tableReader{
				columnType: func(string) (Type, bool) { return typ, true },
				grow:       func(n int) { rows += n },
				set:        func(int, string, any) {},
			})
			if err == nil {
				t.Errorf("%s as %s: %d rows and no error", name, typ, rows)
			}
			t.Logf("%s as %s: %v", name, typ, err)
		}
	}
}

// smallFile is a file of three rows with one column of each type.
func smallFile(t testing.TB) []byte {
	t.Helper()
	fields := []field{
		{"point_id", String},
		{"m", Int},
		{"qps", Float},
		{"converged", Bool},
		{"started_at", Time},
		{"warnings", Strings},
		{"stage_p50_seconds", FloatMap},
		{"latency_histogram", Bytes},
	}
	rows := []Row{fullRow("first"), {"point_id": "bare"}, fullRow("last")}
	path := filepath.Join(t.TempDir(), "r.parquet")
	if err := writeParquet(path, fields, len(rows), func(row, f int) any { return rows[row][fields[f].name] }); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Every way to cut our own file short, and every byte of it flipped, gives an error or as many rows.
func TestMutilatedFiles(t *testing.T) {
	raw := smallFile(t)
	const written = 3
	read := func(raw []byte) (int, error) {
		rows := 0
		_, err := decodeParquet(context.Background(), raw, rowsInto(&rows))
		return rows, err
	}
	if n, err := read(raw); n != written || err != nil {
		t.Fatalf("the whole file: %d rows, %v", n, err)
	}
	for n := range len(raw) {
		if _, err := read(raw[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", n, len(raw))
		}
	}
	refused := 0
	for i := range raw {
		flipped := slices.Clone(raw)
		flipped[i] ^= 1 << (i % 8)
		n, err := read(flipped)
		if err != nil {
			refused++
		} else if n != written {
			t.Errorf("bit flipped in byte %d: %d rows and no error", i, n)
		}
	}
	if refused < len(raw)/10 {
		t.Errorf("only %d of %d flipped files were refused", refused, len(raw))
	}
}

func rowsInto(rows *int) tableReader {
	c := newCatalogue()
	return tableReader{
		columnType: func(name string) (Type, bool) {
			i, _, ok := c.find(name)
			if !ok {
				return 0, false
			}
			return c.columns[i].Type, true
		},
		required: "point_id",
		grow:     func(n int) { *rows += n },
		set:      func(int, string, any) {},
	}
}

func TestReadRowsStopsWhenCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	writeRows(t, path, sparseRows())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadRows(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// The runs of the hybrid encoding, written out by hand: header = count << 1 for a repeated level, groups of 8 << 1 | 1
// for packed ones.
func TestCheckLevels(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
		max  int16
		n    int
		ok   bool
	}{
		{"five times 1", []byte{5 << 1, 1}, 1, 5, true},
		{"one more than there are", []byte{5 << 1, 1}, 1, 6, false},
		{"eight packed bits", []byte{1<<1 | 1, 0b10110011}, 1, 8, true},
		{"packed, the last group not full", []byte{1<<1 | 1, 0b10110011}, 1, 3, true},
		{"packed and too few", []byte{1<<1 | 1, 0xff}, 1, 9, false},
		{"packed, two bits each, cut short", []byte{1<<1 | 1, 0}, 3, 8, false},
		{"packed, two bits each", []byte{1<<1 | 1, 0b11100100, 0}, 3, 8, true},
		{"packed 3 where 2 is the largest", []byte{1<<1 | 1, 0b11100100, 0}, 2, 8, false},
		{"repeated 3 where 2 is the largest", []byte{4 << 1, 3}, 2, 4, false},
		{"two runs", []byte{3 << 1, 0, 1<<1 | 1, 0xff}, 1, 11, true},
		{"a run of none", []byte{0, 1}, 1, 1, false},
		{"no level after the header", []byte{4 << 1}, 1, 4, false},
		{"a header without end", []byte{0x80, 0x80}, 1, 4, false},
		{"nothing wanted", nil, 1, 0, true},
	} {
		if err := checkLevels(tt.data, tt.max, tt.n); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

// What a footer claims for a column is not allocated if the file cannot hold it.
func TestColumnsLargerThanTheFile(t *testing.T) {
	raw := smallFile(t)
	f, err := openParquet(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	columns, _, err := topColumns(f.MetaData().Schema, rowsInto(new(int)), 10)
	if err != nil {
		t.Fatal(err)
	}
	err = columns[0].read(f.RowGroup(0), 3, func(int, any) {})
	if err == nil || !strings.Contains(err.Error(), "its 10 bytes cannot hold") {
		t.Errorf("error %v, want one of the claim", err)
	}
}

func BenchmarkRows(b *testing.B) {
	rows := make([]Row, 1000)
	for i := range rows {
		rows[i] = fullRow(fmt.Sprint("p", i))
	}
	path := filepath.Join(b.TempDir(), "r.parquet")
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			writeRows(b, path, rows)
		}
	})
	writeRows(b, path, rows)
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			got, err := ReadRows(context.Background(), path)
			if err != nil || len(got) != len(rows) || got[999]["point_id"] != "p999" {
				b.Fatalf("%d rows, %v", len(got), err)
			}
		}
	})
}

// FuzzReadRows needs -fuzzminimizetime=1x to get anywhere in a few seconds: the Parquet library's pools make coverage
// waver, so that the fuzzer spends its time on shrinking inputs.
func FuzzReadRows(f *testing.F) {
	f.Add(smallFile(f))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rows := 0
		if _, err := decodeParquet(context.Background(), raw, rowsInto(&rows)); err == nil && rows > len(raw)*maxRowsPerByte {
			t.Errorf("%d rows from %d bytes", rows, len(raw))
		}
	})
}
