package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// A file whose batches are damaged gives an error that names it, or what was written but for the damage; never a panic.
func TestFlippedBitsAreNoPanic(t *testing.T) {
	dir := t.TempDir()
	answers, chunks := filepath.Join(dir, "answers.arrow"), filepath.Join(dir, "chunks.arrow")
	if err := WriteAnswers(answers, []Answer{{IDs: []int64{5, 3}, Scores: []float32{1, 2}, Stages: []int64{4}, Lists: [][]int64{{5}, {3, 1}}, Error: "none"}}); err != nil {
		t.Fatal(err)
	}
	w, err := CreateChunks(chunks)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(Chunk{Doc: 1, End: 4, Text: "text"}), w.Append(Chunk{Doc: 2, End: 9, Prefix: "p", Text: "further"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for path, read := range map[string]func() error{
		answers: func() error { _, err := ReadAnswers(answers); return err },
		chunks: func() error {
			for _, err := range Chunks(chunks) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// The footer's length stands before the magic at the end. What the footer claims, the library allocates.
		footer := int(binary.LittleEndian.Uint32(whole[len(whole)-10:]))
		for i := 0; i < len(whole)-10-footer; i += 5 {
			flipped := slices.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := read(); err != nil {
				refused++
				if !strings.Contains(err.Error(), path) {
					t.Errorf("bit flipped in byte %d: %v, which does not name the file", i, err)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no flipped file was refused")
	}
}
