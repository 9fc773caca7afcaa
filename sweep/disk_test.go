package sweep

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"frontier/results"
)

// smallDisk mounts a file system of the size in memory at dir, and returns what changes its size.
func smallDisk(t *testing.T, dir string, size int64) (resize func(size int64)) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs tmpfs, which only Linux has")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := func(options string) ([]byte, error) {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
	}
	if out, err := mount(fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("needs leave to mount a small disk: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount %s: %v: %s", dir, err, out)
		}
	})
	return func(size int64) {
		t.Helper()
		if out, err := mount(fmt.Sprintf("remount,size=%d", size)); err != nil {
			t.Fatalf("enlarge the disk: %v: %s", err, out)
		}
	}
}

// usedBytes is what the files in dir take on a disk with pages of 4 KiB.
func usedBytes(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			sum += (info.Size() + 4095) &^ 4095
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// On a disk that fills up, a sweep says which and what to do, keeps what it has, and ends as it would have when there is
// room.
func TestFullDiskLosesNothing(t *testing.T) {
	yaml := chaosSweeps()["text"]
	undisturbed := newPlace(t, yaml)
	undisturbed.writeText()
	undisturbed.run()
	want := undisturbed.outcome()
	shares := []float64{0.05, 0.2, 0.4, 0.6, 0.8}
	if testing.Short() {
		shares = []float64{0.4}
	}
	for name, full := range map[string]struct {
		dir    func(p *place) string
		remedy string
	}{
		"results": {func(p *place) string { return p.out }, "--out"},
		"cache":   {func(p *place) string { return p.cache }, "--cache"},
	} {
		for _, share := range shares {
			t.Run(fmt.Sprintf("%s at %.0f%%", name, 100*share), func(t *testing.T) {
				p := newPlace(t, yaml)
				p.writeText()
				dir := full.dir(p)
				size := usedBytes(t, full.dir(undisturbed))
				enlarge := smallDisk(t, dir, max(4096, int64(share*float64(size))))
				s, err := p.try()
				if err == nil {
					t.Fatalf("a sweep went well on a disk that cannot hold it: %+v", s)
				}
				for _, w := range []string{"no space left on device", dir, full.remedy} {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("the error does not say %q: %v", w, err)
					}
				}
				if strings.Count(err.Error(), "no space left") > 2 {
					t.Errorf("the error repeats itself: %v", err)
				}
				p.expectWholeArtifacts()
				if parts, _ := filepath.Glob(filepath.Join(p.out, "parts", "*.parquet")); len(parts) > 0 {
					if _, err := results.ReadRows(t.Context(), p.out); err != nil {
						t.Error(err)
					}
				}
				enlarge(4 * size)
				if s = p.run(); s.Failed != 0 {
					t.Errorf("with room again: %+v", s)
				}
				p.expect(want)
				p.expectTidy()
			})
		}
	}
}
