package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func requireStorageError(t *testing.T, err, cause error, parts ...string) {
	t.Helper()
	var storage *StorageError
	if !errors.As(err, &storage) || cause != nil && !errors.Is(err, cause) {
		t.Fatalf("the error is %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message lacks %q: %v", part, err)
		}
	}
}

func requireFull(t *testing.T, c *Cache, err error) {
	t.Helper()
	requireStorageError(t, err, unix.ENOSPC, c.Root(), "no space left on device", " are free there", "frontier cache gc", "--cache", "stage i=1")
	if _, ok := c.Lookup(numbered(1).Key()); ok {
		t.Error("half an artifact was stored")
	}
	requireTidy(t, c)
	if a := mustDo(t, mustOpen(t, c.Root()), 0); !a.Hit {
		t.Error("what was stored before is no hit")
	}
}

// A build that runs into the end of the disk, or of a quota, after some bytes.
func TestBuildWithoutRoom(t *testing.T) {
	c := mustOpen(t, t.TempDir())
	mustDo(t, c, 0)
	_, err := c.Do(t.Context(), numbered(1), func(_ context.Context, dir string) error {
		path := filepath.Join(dir, "data")
		if err := os.WriteFile(path, []byte("the first bytes"), 0o644); err != nil {
			return err
		}
		return fmt.Errorf("write vectors: %w", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
	})
	requireFull(t, c, err)
	if !strings.Contains(err.Error(), "write vectors: write ") {
		t.Errorf("the build's own message is lost: %v", err)
	}
}

// A build that fails for a reason of its own keeps its error as it is.
func TestBuildErrorIsUntouched(t *testing.T) {
	c := mustOpen(t, t.TempDir())
	own := &fs.PathError{Op: "open", Path: "/the/users/corpus.jsonl", Err: syscall.EACCES}
	_, err := c.Do(t.Context(), numbered(0), func(context.Context, string) error { return own })
	if !errors.Is(err, own) || err.Error() != own.Error() {
		t.Errorf("the error is %v", err)
	}
}

// tmpfs mounts a small file system, where that is permitted.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := mount(dir, options); err != nil {
		t.Skipf("a small file system cannot be mounted here (that takes Linux and root): %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(dir); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	root := tmpfs(t, "size=1m")
	c := mustOpen(t, root)
	mustDo(t, c, 0)
	big := func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "data"), make([]byte, 2<<20), 0o644)
	}
	_, err := c.Do(t.Context(), numbered(1), big)
	requireFull(t, c, err)
	if !strings.Contains(err.Error(), "(0 B of 1.0 MiB are free there)") {
		t.Errorf("the free bytes are wrong: %v", err)
	}
	filler := filepath.Join(root, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o644); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk cannot be filled: %v", err)
	}
	if a := mustDo(t, mustOpen(t, root), 0); !a.Hit {
		t.Error("an artifact on a full disk is no hit")
	}
	_, err = c.Do(t.Context(), numbered(1), builder(1))
	requireFull(t, c, err)
}

// Room can be made on a disk that has none left.
func TestGCOnAFullDisk(t *testing.T) {
	root := tmpfs(t, "size=1m")
	c, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, c, 0)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "filler"), make([]byte, 2<<20), 0o644); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk cannot be filled: %v", err)
	}
	none := int64(0)
	r, err := mustOpen(t, root).GC(t.Context(), GCOptions{MaxBytes: &none})
	if err != nil || len(r.Deleted) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// readOnly makes a cache with artifact 0 that cannot be written.
func readOnly(t *testing.T) string {
	t.Helper()
	prepare := func(root string) {
		c := mustOpen(t, root)
		mustDo(t, c, 0)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() != 0 {
		root := t.TempDir()
		prepare(root)
		chmodAll(t, root, 0o555)
		t.Cleanup(func() { chmodAll(t, root, 0o755) })
		return root
	}
	root := tmpfs(t, "size=1m")
	prepare(root)
	if err := remountReadOnly(root); err != nil {
		t.Skipf("a file system cannot be made read-only here: %v", err)
	}
	return root
}

func chmodAll(t *testing.T, root string, mode os.FileMode) {
	t.Helper()
	dirs, err := listDirs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// A cache that cannot be written gives what it has, and says clearly that it cannot give more.
func TestReadOnlyCache(t *testing.T) {
	root := readOnly(t)
	c := mustOpen(t, root)
	if a := mustDo(t, c, 0); !a.Hit {
		t.Error("what is there is no hit")
	}
	_, err := c.Do(t.Context(), numbered(1), builder(1))
	requireStorageError(t, err, nil, root, "make the artifact of stage i=1", "--cache")
	if !isForbidden(err) {
		t.Errorf("the cause is lost: %v", err)
	}
	if r, err := c.Verify(t.Context(), false, nil); err != nil || r.Checked != 1 {
		t.Errorf("verification: %+v, %v", r, err)
	}
	if entries, err := c.List(t.Context()); err != nil || len(entries) != 1 {
		t.Errorf("listing: %v, %v", entries, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := mustOpen(t, root).GC(t.Context(), GCOptions{MaxBytes: new(int64), DryRun: true}); err != nil || len(r.Deleted) != 1 {
		t.Errorf("dry collection: %+v, %v", r, err)
	}
	r, err := mustOpen(t, root).GC(t.Context(), GCOptions{MaxBytes: new(int64)})
	requireStorageError(t, err, nil, root)
	if !isForbidden(err) || len(r.Deleted) != 0 {
		t.Errorf("collection: %+v, %v", r, err)
	}
}

// A cache that lacks the folders for writing, as a copy may, can be read.
func TestReadOnlyCacheWithoutFolders(t *testing.T) {
	root := t.TempDir()
	mustDo(t, mustOpen(t, root), 0)
	for _, dir := range []string{"tmp", "locks"} {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := open(root, newEdge(0, true, &fs.PathError{Op: "mkdir", Path: root, Err: syscall.EROFS}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if a := mustDo(t, c, 0); !a.Hit {
		t.Error("what is there is no hit")
	}
	_, err = c.Do(t.Context(), numbered(1), builder(1))
	requireStorageError(t, err, syscall.EROFS, "make it writable")
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(file)
	requireStorageError(t, err, syscall.ENOTDIR, file, "--cache")
	_, err = OpenExisting(file)
	requireStorageError(t, err, syscall.ENOTDIR, file, "--cache")
}

// A cache that is not there is empty, and is not made by looking at it.
func TestOpenExisting(t *testing.T) {
	root := filepath.Join(t.TempDir(), "absent")
	c, err := OpenExisting(root)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := c.List(t.Context()); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if r, err := c.GC(t.Context(), GCOptions{MaxBytes: new(int64)}); err != nil || r.Freed() > 0 {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := c.Verify(t.Context(), true, nil); err != nil || r.Checked > 0 {
		t.Errorf("%v, %v", r, err)
	}
	if _, ok := c.Lookup(numbered(0).Key()); ok {
		t.Error("an artifact was found")
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("the folder was made")
	}
}
