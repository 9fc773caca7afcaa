package file

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected messages")

// TestBadFiles compares what is said about each testdata/bad/*.yaml with the .txt beside it. Lines of the file that
// start with "#set " are --set flags.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var sets []string
			for line := range strings.Lines(string(src)) {
				if set, ok := strings.CutPrefix(line, "#set "); ok {
					sets = append(sets, strings.TrimSpace(set))
				}
			}
			path := folder(t)
			_, err = Parse(path, src, testRegistry(), sets)
			var all Errors
			if !errors.As(err, &all) {
				t.Fatalf("no error, or not one of ours: %v", err)
			}
			got := strings.ReplaceAll(all.Detail(), filepath.Dir(path)+"/", "") + "\n"
			golden := strings.TrimSuffix(name, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
