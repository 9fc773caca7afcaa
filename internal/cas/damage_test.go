package cas

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func damageByte(t testing.TB, path string, at int64) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// damages are the ways in which an artifact can be spoilt, and a part of what is said about it.
var damages = map[string]struct {
	spoil func(a Artifact) error
	says  string
}{
	"truncated":         {func(a Artifact) error { return cut(a.Path("data"), 4) }, "data has 4 bytes, not 1100"},
	"longer":            {func(a Artifact) error { return cut(a.Path("data"), 5000) }, "data has 5000 bytes"},
	"file missing":      {func(a Artifact) error { return os.Remove(a.Path("index/part")) }, "index/part is missing"},
	"file is a folder":  {func(a Artifact) error { return replaceByFolder(a.Path("data")) }, "data is missing"},
	"marker missing":    {func(a Artifact) error { return os.Remove(a.Path(metaFile)) }, "artifact.json is missing"},
	"marker is empty":   {func(a Artifact) error { return cut(a.Path(metaFile), 0) }, "artifact.json is not what was written"},
	"marker cut":        {func(a Artifact) error { return cut(a.Path(metaFile), 40) }, "artifact.json is not what was written"},
	"marker of another": {markerOfAnother, "belongs to another artifact"},
	"extra file":        {func(a Artifact) error { return os.WriteFile(a.Path("segment"), nil, 0o644) }, "segment was not there"},
	"not a folder":      {func(a Artifact) error { return replaceByFile(a.Dir) }, "artifact.json is missing"},
	"a link to a file":  {func(a Artifact) error { return replaceByLink(a.Path("data")) }, "data has -1 bytes"},
}

// cut gives a file another size, which it is protected against.
func cut(path string, size int64) error {
	if err := os.Chmod(path, 0o644); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

func replaceByFolder(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

func replaceByFile(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o644)
}

func replaceByLink(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Symlink(metaFile, path)
}

func markerOfAnother(a Artifact) error {
	m := a.Meta
	m.Key, m.Stage = numbered(1).Key(), numbered(1)
	raw, err := m.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(a.Path(metaFile), raw, 0o644)
}

// noticed collects notices.
type noticed struct {
	mu  sync.Mutex
	all []Notice
}

func (n *noticed) add(x Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, x)
}

// Every damage is found by the process that made the artifact and by another one, reported, set aside and repaired.
func TestDamage(t *testing.T) {
	for name, d := range damages {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/reopened=%v", name, again), func(t *testing.T) {
				root := t.TempDir()
				var notes noticed
				c := mustOpen(t, root, Report(notes.add))
				a := mustDo(t, c, 0)
				if again {
					c = mustOpen(t, root, Report(notes.add))
				}
				if err := d.spoil(a); err != nil {
					t.Fatal(err)
				}
				requireRepair(t, c, &notes, d.says)
			})
		}
	}
}

func requireRepair(t *testing.T, c *Cache, notes *noticed, says string) {
	t.Helper()
	if _, ok := c.Lookup(numbered(0).Key()); ok {
		t.Error("the damaged artifact was taken for whole")
	}
	b := mustDo(t, c, 0)
	if b.Hit {
		t.Error("the damaged artifact was a hit")
	}
	requireContent(t, b, 0)
	if len(notes.all) != 1 || notes.all[0].Kind != Damaged {
		t.Fatalf("the notices are %v", notes.all)
	}
	n := notes.all[0]
	if text := n.String(); !strings.Contains(text, says) || !strings.Contains(text, string(b.Key)) || !strings.Contains(text, "stage i=0") {
		t.Errorf("the notice %q lacks %q or the artifact", text, says)
	}
	if _, err := os.Lstat(n.MovedTo); err != nil {
		t.Errorf("the damaged artifact was not kept: %v", err)
	}
	if next := mustDo(t, c, 0); !next.Hit {
		t.Error("the repaired artifact is not a hit")
	}
}

// A flipped bit keeps the sizes: a process that has not read the artifact yet finds it, wherever it is.
func TestFlippedBit(t *testing.T) {
	for _, at := range []int64{0, 600, 1099} {
		root := t.TempDir()
		a := mustDo(t, mustOpen(t, root), 0)
		damageByte(t, a.Path("data"), at)
		var notes noticed
		requireRepair(t, mustOpen(t, root, Report(notes.add)), &notes, "data has another content than was written, in the bytes 0 to 1100")
	}
}

// A flipped bit in artifact.json is found where it changes the meaning, and only there.
func TestFlippedBitsOfMarker(t *testing.T) {
	root := t.TempDir()
	a := mustDo(t, mustOpen(t, root), 0)
	raw, err := os.ReadFile(a.Path(metaFile))
	if err != nil {
		t.Fatal(err)
	}
	want, err := decodeMeta(raw, a.Key)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range raw {
		for bit := range 8 {
			spoilt := bytes.Clone(raw)
			spoilt[i] ^= 1 << bit
			m, err := decodeMeta(spoilt, a.Key)
			switch {
			case err != nil:
				found++
			case !reflect.DeepEqual(m, want):
				t.Errorf("flipping bit %d of byte %d gives %+v", bit, i, m)
			}
		}
	}
	if found < 4*len(raw) {
		t.Errorf("only %d of %d flipped bits were found", found, 8*len(raw))
	}
}

// Hidden files that systems drop into folders are no damage.
func TestHiddenFilesAreIgnored(t *testing.T) {
	root := t.TempDir()
	a := mustDo(t, mustOpen(t, root), 0)
	if err := os.WriteFile(a.Path(filepath.Join("index", ".DS_Store")), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b := mustDo(t, mustOpen(t, root), 0); !b.Hit {
		t.Error("a hidden file made the artifact a miss")
	}
}

// Artifacts without checksums, as earlier versions wrote them, are made again without being called damaged.
func TestOtherFormatIsAMiss(t *testing.T) {
	root := t.TempDir()
	starts["other format"](t, root)
	var notes noticed
	c := mustOpen(t, root, Report(notes.add))
	a := mustDo(t, c, 0)
	if a.Hit || len(notes.all) > 0 {
		t.Errorf("hit %v, notices %v", a.Hit, notes.all)
	}
	requireContent(t, a, 0)
	requireTidy(t, c)
}

// Files of several blocks: the sums tell which block is damaged.
func TestBlocks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "big")
	for _, size := range []int64{0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 2*blockBytes + 5} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		sums, failed := checksums(t.Context(), dir, map[string]int64{"big": size})
		if len(failed) > 0 || int64(len(sums["big"])) != crcDigits*blocks(size) {
			t.Fatalf("%d bytes: sums %q, failures %v", size, sums["big"], failed)
		}
		for at := int64(0); at < size; at += blockBytes {
			damageByte(t, path, min(at+3, size-1))
			m := Meta{Files: map[string]File{"big": {size, sums["big"]}}}
			faults, err := checkBytes(t.Context(), dir, m)
			want := fmt.Sprintf("in the bytes %d to %d", at, min(at+blockBytes, size))
			if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Problem, want) {
				t.Errorf("%d bytes, damaged at %d: %v, %v", size, at, faults, err)
			}
			damageByte(t, path, min(at+3, size-1))
		}
	}
}

// The sums are those of the standard: the check value of CRC-32C is that of the digits 1 to 9.
func TestChecksumIsCRC32C(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	sums, failed := checksums(t.Context(), dir, map[string]int64{"x": 9})
	if sums["x"] != "e3069283" || len(failed) > 0 {
		t.Errorf("the sum is %q: %v", sums["x"], failed)
	}
}

func FuzzMeta(f *testing.F) {
	k := numbered(0).Key()
	good, err := (Meta{Format: format, Key: k, Stage: numbered(0), Files: map[string]File{"a/b": {3, "01234567"}}}).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"Format":2,"Files":{"../x":{"Size":1}}}`))
	f.Add([]byte(`{"Files":{"x":9223372036854775807}}`))
	f.Add(bytes.Replace(good, []byte(`"Size":3`), []byte(`"Size":-3`), 1))
	f.Add(bytes.Replace(good, []byte(`"Size":3`), []byte(`"Size":9223372036854775807`), 1))
	for _, name := range []string{"../x", "/etc/passwd", metaFile, "a//b", "."} { // with a good sum of their own
		raw, err := (Meta{Format: format, Key: k, Stage: numbered(0), Files: map[string]File{name: {3, "01234567"}}}).encode()
		if err != nil {
			f.Fatal(err)
		}
		if _, err := decodeMeta(raw, k); err == nil {
			f.Errorf("the file %q was accepted", name)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decodeMeta(raw, k)
		if err != nil {
			return
		}
		if m.Key != k || m.Format != format {
			t.Errorf("the artifact %v was taken for %v", m.Key, k)
		}
		root := t.TempDir()
		for name := range m.Files {
			path := filepath.Join(root, name)
			if rel, err := filepath.Rel(root, path); err != nil || rel != name || strings.HasPrefix(rel, "..") {
				t.Errorf("the file %q leads to %q", name, rel)
			}
		}
	})
}

// Parameters that are not UTF-8 do not make an artifact unreadable.
func TestParamsThatAreNotUTF8(t *testing.T) {
	root := t.TempDir()
	s := Stage{Name: "corpus", Params: "folder \xff<&>\u2028"}
	if other := (Stage{Name: s.Name, Params: "folder \xfe<&>\u2028"}); s.Key() == other.Key() {
		t.Error("two folders have one key")
	}
	for i, hit := range []bool{false, true} {
		a, err := mustOpen(t, root).Do(t.Context(), s, builder(0))
		if err != nil || a.Hit != hit {
			t.Errorf("time %d: hit %v, %v", i, a.Hit, err)
		}
	}
}
