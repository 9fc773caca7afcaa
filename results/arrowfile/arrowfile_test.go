package arrowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestChunksRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chunks.arrow")
	w, err := CreateChunks(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []Chunk
	for i := range 2*batchRows + 7 { // more than one batch, and a last one that is not full
		c := Chunk{Doc: int32(i / 3), Start: int32(i), End: int32(2 * i), Prefix: "", Text: fmt.Sprintf("текст %d", i)}
		if i%2 == 0 {
			c.Prefix = "title\n"
		}
		want = append(want, c)
		if err := w.Append(c); err != nil {
			t.Fatal(err)
		}
	}
	if w.Len() != len(want) {
		t.Errorf("Len is %d after %d rows", w.Len(), len(want))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got []Chunk
	for c, err := range Chunks(path) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the chunks that were read are not those that were written")
	}
	docs, starts, ends, err := Spans(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range want {
		if docs[i] != c.Doc || starts[i] != c.Start || ends[i] != c.End {
			t.Fatalf("span %d is (%d, %d, %d), not that of %+v", i, docs[i], starts[i], ends[i], c)
		}
	}
}

func TestAnswersRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.arrow")
	want := []Answer{
		{IDs: []int64{5, 3}, Scores: []float32{1.5, -2}, Depth: 10, Nanoseconds: 1234, Stages: []int64{1, 2}, Lists: [][]int64{{5, 3}, {}, {3, 1, 2}}},
		{Depth: 10, Nanoseconds: 7, Error: "engine: no such thing"},
		{IDs: []int64{1 << 40}, Scores: []float32{0}, Depth: 20, Nanoseconds: 9},
	}
	if err := WriteAnswers(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadAnswers(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, wrote %+v", got, want)
	}
}

func TestTruncatedFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.arrow")
	if err := WriteAnswers(path, []Answer{{IDs: []int64{1}, Scores: []float32{1}}}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAnswers(path); err == nil {
			t.Errorf("a file cut to %d of %d bytes was read without an error", n, len(whole))
		}
	}
}
