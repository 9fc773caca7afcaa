package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse checks that no text makes Parse panic or hang, that what it refuses it refuses with errors of ours, and
// that what it accepts can be written and read back.
func FuzzParse(f *testing.F) {
	for _, src := range []string{textSweep, vectorSweep} {
		f.Add(src, "measure.rounds=1")
	}
	bad, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range bad {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src), "indexes.0.M=[8, {from: 16, to: 64, scale: log2}]")
	}
	path := folder(f)
	f.Fuzz(func(t *testing.T, src, set string) {
		for _, sets := range [][]string{nil, {set}} {
			file, err := Parse(path, []byte(src), testRegistry(), sets)
			var all Errors
			switch {
			case err == nil:
				checkCanonical(t, file)
			case !errors.As(err, &all) || len(all) == 0:
				t.Errorf("error of the type %T: %v", err, err)
			default:
				_ = all.Detail()
			}
		}
	})
}
