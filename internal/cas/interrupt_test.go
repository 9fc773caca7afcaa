package cas

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What was built is stored, also if the user wanted to go meanwhile.
func TestAFinishedBuildIsStoredAfterAnInterruption(t *testing.T) {
	c := mustOpen(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	a, err := c.Do(ctx, numbered(1), func(_ context.Context, dir string) error {
		cancel()
		return os.WriteFile(filepath.Join(dir, "file"), []byte("built"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(a.Path("file")); err != nil {
		t.Error(err)
	}
	if a, ok := c.Lookup(numbered(1).Key()); !ok || a.Key != numbered(1).Key() {
		t.Error("the artifact is not in the cache")
	}
}
