package results

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// manyRows are n rows of three engines in turns, with all recalls from 0 to 1 mixed.
func manyRows(n int) []Row {
	engines := []string{"hnswlib", "faiss", "flat"}
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			"point_id": fmt.Sprint("p", i), "status": "ok", "engine": engines[i%3], "recall_at_10": float64(i*7919%10007) / 10007,
			"ann_recall_at_10": 0.5, "recall_at_1": 0.1,
		}
	}
	return rows
}

// chunkOf is the metadata of a column in each row group.
func chunkOf(t *testing.T, path, column string) []*metadata.ColumnChunkMetaData {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	index := f.MetaData().Schema.ColumnIndexByName(column)
	var out []*metadata.ColumnChunkMetaData
	for g := range f.NumRowGroups() {
		chunk, err := f.MetaData().RowGroup(g).ColumnChunk(index)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, chunk)
	}
	return out
}

// Whoever asks for one engine and a high recall can skip the row groups whose statistics rule both out.
func TestRowGroupsCanBeSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	const size = 500
	rows := manyRows(6*size + 5)
	if err := writeRowGroups(path, rows, size); err != nil {
		t.Fatal(err)
	}
	needed, groups := 0, 0
	recalls := chunkOf(t, path, "recall_at_10")
	for g, engine := range chunkOf(t, path, "engine") {
		groups++
		e, err := engine.Statistics()
		if err != nil || !e.HasMinMax() {
			t.Fatalf("row group %d: engine has no statistics, %v", g, err)
		}
		r, err := recalls[g].Statistics()
		if err != nil || !r.HasMinMax() {
			t.Fatalf("row group %d: recall has no statistics, %v", g, err)
		}
		texts, numbers := e.(*metadata.ByteArrayStatistics), r.(*metadata.Float64Statistics)
		if string(texts.Min()) <= "faiss" && string(texts.Max()) >= "faiss" && numbers.Max() > 0.95 {
			needed++
		}
		if !hasDictionary(engine) {
			t.Errorf("row group %d: engine is not dictionary-encoded: %v", g, engine.Encodings())
		}
	}
	if groups != 7 || needed == 0 || needed > 2 {
		t.Errorf("%d of %d row groups are needed for engine = 'faiss' AND recall_at_10 > 0.95, want at most 2 of 7", needed, groups)
	}
	got, err := ReadRows(context.Background(), path)
	if err != nil || len(got) != len(rows) {
		t.Fatalf("%d rows, %v; want %d", len(got), err, len(rows))
	}
	seen := map[string]bool{}
	for _, r := range got {
		seen[r.Text("point_id")] = true
	}
	if len(seen) != len(rows) {
		t.Errorf("%d distinct points, want %d", len(seen), len(rows))
	}
}

func hasDictionary(c *metadata.ColumnChunkMetaData) bool {
	for _, e := range c.Encodings() {
		if e == parquet.Encodings.RLEDict || e == parquet.Encodings.PlainDict {
			return true
		}
	}
	return false
}

func TestWriteRowBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	broken := errors.New("the source broke")
	batches := func(fail error, row Row) iter.Seq2[[]Row, error] {
		return func(yield func([]Row, error) bool) {
			_ = yield([]Row{{"point_id": "a"}, row}, nil) && yield([]Row{{"point_id": "c"}}, nil) && fail != nil && yield(nil, fail)
		}
	}
	if err := WriteRowBatches(path, []int{5}, batches(nil, Row{"point_id": "b", "recall_at_5": 0.5})); err != nil {
		t.Fatal(err)
	}
	rows, err := ReadRows(context.Background(), path)
	if err != nil || len(rows) != 3 || rows[1]["recall_at_5"] != 0.5 || rows[2]["point_id"] != "c" {
		t.Errorf("read back %v, %v", rows, err)
	}
	if n := len(chunkOf(t, path, "point_id")); n != 2 {
		t.Errorf("%d row groups, want one a batch", n)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteRowBatches(path, []int{5}, batches(broken, Row{"point_id": "b"})); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the source", err)
	}
	for want, row := range map[string]Row{
		`column "recall_at_10" has a cut-off that was not announced`: {"point_id": "b", "recall_at_10": 0.5},
		`unknown column "recal_at_5"`:                                {"point_id": "b", "recal_at_5": 0.5},
	} {
		if err := WriteRowBatches(path, []int{5}, batches(nil, row)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `row 1 (point "b")`) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("a failed write changed the file (%v)", err)
	}
}

// Two runs beside each other are one table, told apart by run_id, whether named one by one or by a glob.
func TestReadRowsOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for _, run := range []string{"monday", "tuesday"} {
		if err := os.Mkdir(filepath.Join(dir, run), 0o755); err != nil {
			t.Fatal(err)
		}
		writeRows(t, filepath.Join(dir, run, "results.parquet"), []Row{
			{"point_id": "a", "run_id": run, "status": "ok", "qps": 1.0}, {"point_id": "b", "run_id": run, "status": "ok"},
		})
	}
	for _, paths := range [][]string{
		{filepath.Join(dir, "monday"), filepath.Join(dir, "tuesday")},
		{filepath.Join(dir, "*")},
		{filepath.Join(dir, "*", "results.parquet")},
	} {
		rows, err := ReadRows(context.Background(), paths...)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range rows {
			got += r.Text("run_id") + "/" + r.Text("point_id") + " "
		}
		if want := "monday/a monday/b tuesday/a tuesday/b "; got != want {
			t.Errorf("%v: %s, want %s", paths, got, want)
		}
	}
}
