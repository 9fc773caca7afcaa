package cas

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// aged makes a cache of artifacts of which number i was last used i days ago.
func aged(t *testing.T, n int) *Cache {
	t.Helper()
	root := t.TempDir()
	c, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		setUsed(t, mustDo(t, c, i), time.Duration(i)*24*time.Hour)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, root)
}

func setUsed(t *testing.T, a Artifact, ago time.Duration) {
	t.Helper()
	at := time.Now().Add(-ago)
	if err := os.Chtimes(a.Path(metaFile), at, at); err != nil {
		t.Fatal(err)
	}
}

func numbers(t *testing.T, entries []Entry) []int {
	t.Helper()
	var found []int
	for _, e := range entries {
		i := 0
		for ; numbered(i).Key() != e.Key; i++ {
			if i > 100 {
				t.Fatalf("artifact %s is not one of the test's", e.Key)
			}
		}
		found = append(found, i)
	}
	return found
}

func entriesOf(deleted []Deleted) []Entry {
	var entries []Entry
	for _, d := range deleted {
		entries = append(entries, d.Entry)
	}
	return entries
}

func TestGC(t *testing.T) {
	all, err := aged(t, 1).List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	one := all[0].Bytes
	room := func(n int64) *int64 { n = n*one + one/2; return &n }
	for name, test := range map[string]struct {
		opt  GCOptions
		want []int // deleted, in this order
	}{
		"nothing asked":    {GCOptions{}, nil},
		"age":              {GCOptions{UnusedSince: time.Now().Add(-60 * time.Hour)}, []int{4, 3}},
		"size":             {GCOptions{MaxBytes: room(3)}, []int{4, 3}},
		"size is enough":   {GCOptions{MaxBytes: room(5)}, nil},
		"age, then size":   {GCOptions{UnusedSince: time.Now().Add(-84 * time.Hour), MaxBytes: room(2)}, []int{4, 3, 2}},
		"no room, dry run": {GCOptions{MaxBytes: new(int64), DryRun: true}, []int{4, 3, 2, 1, 0}},
		"no room":          {GCOptions{MaxBytes: new(int64)}, []int{4, 3, 2, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			c := aged(t, 5)
			r, err := c.GC(t.Context(), test.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got := numbers(t, entriesOf(r.Deleted)); !slices.Equal(got, test.want) {
				t.Errorf("deleted %v, not %v", got, test.want)
			}
			var freed int64
			for _, d := range r.Deleted {
				freed += d.Bytes
			}
			if r.Freed() != freed || r.KeptCount != 5-len(test.want) {
				t.Errorf("the report is %+v", r)
			}
			left := 5 - len(test.want)
			if test.opt.DryRun {
				left = 5
			}
			entries, err := c.List(t.Context())
			if err != nil || len(entries) != left {
				t.Errorf("%d artifacts are left: %v", len(entries), err)
			}
			if locks, err := os.ReadDir(filepath.Join(c.Root(), "locks")); err != nil || !test.opt.DryRun && len(locks) > 0 {
				t.Errorf("locks that nobody holds are left: %v, %v", locks, err)
			}
		})
	}
}

// A hit counts as a use, once in a process.
func TestHitIsAUse(t *testing.T) {
	c := aged(t, 3)
	mustDo(t, c, 2)
	entries, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := numbers(t, entries); !slices.Equal(got, []int{1, 0, 2}) {
		t.Errorf("from the longest unused on: %v", got)
	}
}

// What is of no use goes without being asked for, whole artifacts do not.
func TestGCOfWhatIsOfNoUse(t *testing.T) {
	c := aged(t, 5)
	dir := func(i int) Artifact { return Artifact{Dir: c.dir(numbered(i).Key())} }
	for _, err := range []error{
		cut(dir(0).Path("data"), 3),
		os.Remove(dir(1).Path(metaFile)),
		os.WriteFile(dir(2).Path(metaFile), []byte(`{"Files": {}}`), 0o644),
		fill(filepath.Join(c.Root(), "damaged", "some"), content(9)),
		fill(filepath.Join(c.Root(), "tmp", "left"), content(9)),
		fill(filepath.Join(c.Root(), "tmp"), map[string]string{"owned/data": "0123456789", "owned.owner": "1"}), // as a kill leaves it
		fill(dir(3).Dir+trashMark+"0", content(9)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	entries, err := c.List(t.Context())
	if err != nil || len(entries) != 5 {
		t.Fatalf("%v, %v", entries, err)
	}
	var rest int64
	for _, dry := range []bool{true, false} {
		r, err := c.GC(t.Context(), GCOptions{DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		got := numbers(t, entriesOf(r.Deleted))
		slices.Sort(got)
		if !slices.Equal(got, []int{0, 1, 2}) || r.Rest != 4 || r.RestBytes == 0 || r.KeptCount != 2 {
			t.Errorf("dry %v: deleted %v, %+v", dry, got, r)
		}
		if !dry && r.RestBytes != rest {
			t.Errorf("deleted %d bytes, and the dry run told of %d", r.RestBytes, rest)
		}
		rest = r.RestBytes
	}
	for _, pattern := range []string{"damaged/*", "tmp/*", "objects/*/*" + trashMark + "*"} {
		if left, err := filepath.Glob(filepath.Join(c.Root(), pattern)); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	for _, i := range []int{3, 4} {
		requireContent(t, mustDo(t, c, i), i)
	}
}

// An artifact that was used after it was listed is not deleted on account of its age.
func TestGCSparesWhatWasJustUsed(t *testing.T) {
	c := aged(t, 2)
	entries, err := c.List(t.Context())
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	user := mustOpen(t, c.Root())
	mustDo(t, user, 1)
	if err := user.Close(); err != nil {
		t.Fatal(err)
	}
	if gone, err := c.deleteArtifact(t.Context(), entries[0], false); gone || err != nil {
		t.Errorf("deleted %v, %v", gone, err)
	}
	if gone, err := c.deleteArtifact(t.Context(), entries[1], false); !gone || err != nil {
		t.Errorf("the other one: deleted %v, %v", gone, err)
	}
}

func TestVerify(t *testing.T) {
	c := aged(t, 4)
	damageByte(t, filepath.Join(c.dir(numbered(1).Key()), "data"), 10)
	if err := os.Remove(filepath.Join(c.dir(numbered(2).Key()), metaFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir(numbered(3).Key()), metaFile), []byte(`{"Files": {}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, repair := range []bool{false, true} {
		r, err := c.Verify(t.Context(), repair, func(done, total int) {
			if told++; done >= total {
				t.Errorf("%d of %d", done, total)
			}
		})
		if err != nil || r.Checked != 3 || r.OtherFormat != 1 || len(r.Damaged) != 2 {
			t.Fatalf("repair %v: %+v, %v", repair, r, err)
		}
		for _, d := range r.Damaged {
			if d.Deleted != repair || len(d.Faults) != 1 {
				t.Errorf("repair %v: %+v", repair, d)
			}
		}
	}
	if told != 8 {
		t.Errorf("told of %d artifacts", told)
	}
	if r, err := c.Verify(t.Context(), false, nil); err != nil || r.Checked != 1 || len(r.Damaged) != 0 {
		t.Errorf("after the repair: %+v, %v", r, err)
	}
}

// Folders that are not named as artifacts are left alone.
func TestForeignFilesAreLeftAlone(t *testing.T) {
	c := aged(t, 1)
	foreign := filepath.Join(c.Root(), "objects", "ab", "notes.txt")
	if err := fill(filepath.Dir(foreign), map[string]string{"notes.txt": "x"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Root(), "objects", "README"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	none := int64(0)
	if r, err := c.GC(t.Context(), GCOptions{MaxBytes: &none}); err != nil || len(r.Deleted) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	if _, ok := c.Lookup("../../etc"); ok {
		t.Error("a key that is no key was found")
	}
}

// endingFS ends a context with the first deletion.
type endingFS struct {
	osFS
	end context.CancelFunc
}

func (f endingFS) removeAll(path string) error {
	f.end()
	return f.osFS.removeAll(path)
}

// What an interrupted collection reports is what it did, and it does not blame the disk.
func TestInterruptedGC(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	c := newCache(aged(t, 5).Root(), endingFS{end: end}, nil)
	r, err := c.GC(ctx, GCOptions{MaxBytes: new(int64)})
	left, listErr := c.List(t.Context())
	if !errors.Is(err, context.Canceled) || len(r.Deleted) != 1 || r.KeptCount != 4 || len(left) != 4 || listErr != nil {
		t.Errorf("%+v, %v; left are %v, %v", r, err, left, listErr)
	}
	for _, e := range left {
		r.KeptBytes -= e.Bytes
	}
	if r.KeptBytes != 0 {
		t.Errorf("the artifacts that are left differ by %d bytes from what was reported", r.KeptBytes)
	}
}

func TestInterruptedVerify(t *testing.T) {
	c := aged(t, 3)
	ctx, end := context.WithCancel(t.Context())
	r, err := c.Verify(ctx, false, func(int, int) { end() })
	var storage *StorageError
	if !errors.Is(err, context.Canceled) || errors.As(err, &storage) || r.Checked > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
