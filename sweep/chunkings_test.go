package sweep

import (
	"slices"
	"strings"
	"testing"

	"frontier/chunkers"
	"frontier/sweep/file"
)

func TestChunkingsOfAFile(t *testing.T) {
	f := &file.File{Chunkers: []file.Item{
		{Kind: "none"},
		{Kind: "fixed", Axes: []file.Axis{
			{Name: "size", Values: []file.Value{{Literal: int64(4)}, {Literal: int64(9)}}},
			{Name: "unit", Values: []file.Value{{Literal: "chars"}}},
		}},
	}}
	all, err := Chunkings(f, chunkers.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var counts []int
	for _, c := range all {
		chunks, err := c.Chunker.Chunk("abcdefgh", nil)
		if err != nil {
			t.Fatal(err)
		}
		names, counts = append(names, c.Name), append(counts, len(chunks))
	}
	if !slices.Equal(names, []string{"none", "fixed size=4 unit=chars", "fixed size=9 unit=chars"}) || !slices.Equal(counts, []int{1, 2, 1}) {
		t.Errorf("%q cut into %v chunks", names, counts)
	}

	f.Chunkers[1].Axes[0].Values[1] = file.Value{Expr: "n / 100"}
	if _, err := Chunkings(f, chunkers.Kinds()); err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("a size that depends on the data: %v", err)
	}
}
