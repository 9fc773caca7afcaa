package cas

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// GC leaves unfinished work alone for a week, or as long as it is told, and while a build uses it.
func TestGCOfUnfinishedWork(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name string
		age  time.Duration
		opt  GCOptions
		busy bool
		kept bool
	}{
		{"of yesterday", day, GCOptions{}, false, true},
		{"of last month", 30 * day, GCOptions{}, false, false},
		{"of last month, dry", 30 * day, GCOptions{DryRun: true}, false, true},
		{"of last month, in use", 30 * day, GCOptions{}, true, true},
		{"older than asked", day, GCOptions{UnusedSince: time.Now().Add(-time.Hour)}, false, false},
		{"younger than asked", 30 * day, GCOptions{UnusedSince: time.Now().Add(-60 * day)}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := mustOpen(t, t.TempDir())
			key := numbered(1).Key()
			dir := cache.Unfinished(key)
			file := filepath.Join(dir, "state")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-c.age)
			for _, path := range []string{file, dir} {
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			if c.busy {
				lock, _, err := tryLockFile(cache.lockPath(key), true)
				if err != nil || lock == nil {
					t.Fatal(err)
				}
				defer lock.unlock()
			}
			r, err := cache.GC(t.Context(), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			_, err = os.Stat(file)
			if kept := err == nil; kept != c.kept {
				t.Errorf("kept: %v, want %v", kept, c.kept)
			}
			if deleted := !c.kept || c.opt.DryRun; (r.Rest == 1 && r.RestBytes > 0) != deleted {
				t.Errorf("%d folders of %d bytes were reported", r.Rest, r.RestBytes)
			}
		})
	}
}
