// Package testdata finds the real data sets that tests measure on. They are not part of the repository.
package testdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Path is the path of name in the folder of test data: $FRONTIER_TEST_DATA if that is set, else ../shared/data beside
// the repository. It skips the test, with the reason, where the file is absent.
func Path(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("FRONTIER_TEST_DATA")
	if root == "" {
		root = filepath.Join(moduleRoot(t), "..", "shared", "data")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("test data is absent (set FRONTIER_TEST_DATA to its folder): %v", err)
	}
	return path
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}
