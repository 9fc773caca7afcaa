package machine

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// touch maps size bytes and writes or reads every page.
func touch(t *testing.T, fd, flags, protection, size int) []byte {
	t.Helper()
	raw, err := unix.Mmap(fd, 0, size, protection, flags)
	if err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	for i := 0; i < size; i += 4096 {
		if protection&unix.PROT_WRITE != 0 {
			raw[i] = 1
		}
		sum += raw[i]
	}
	runtime.KeepAlive(sum)
	return raw
}

func must(t *testing.T, read func() (int64, error)) int64 {
	t.Helper()
	n, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMemoryOfThisProcess(t *testing.T) {
	const size = 64 * mib
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	runtime.GC()

	anonymous, mapped := must(t, AnonymousBytes), must(t, MappedBytes)
	heap := touch(t, -1, unix.MAP_PRIVATE|unix.MAP_ANON, unix.PROT_READ|unix.PROT_WRITE, size)
	if grew := must(t, AnonymousBytes) - anonymous; grew < size-8*mib || grew > size+32*mib {
		t.Errorf("%d bytes of anonymous memory show as %d", size, grew)
	}
	if grew := must(t, MappedBytes) - mapped; grew > 8*mib {
		t.Errorf("anonymous memory shows as %d mapped bytes", grew)
	}
	if peak := must(t, PeakBytes); peak < size {
		t.Errorf("the peak is %d", peak)
	}
	if err := unix.Munmap(heap); err != nil {
		t.Fatal(err)
	}
	file := touch(t, int(f.Fd()), unix.MAP_SHARED, unix.PROT_READ, size)
	if grew := must(t, MappedBytes) - mapped; grew < size-8*mib {
		t.Errorf("%d mapped bytes show as %d", size, grew)
	}
	if err := unix.Munmap(file); err != nil {
		t.Fatal(err)
	}

	before := must(t, PeakBytes)
	if err := ResetPeak(); errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	if after := must(t, PeakBytes); after > before-size/2 {
		t.Errorf("the peak was %d and is %d after its reset", before, after)
	}
}

func TestParseStat(t *testing.T) {
	steal, busy, total := parseStat([]byte("cpu  4411 0 2896 142461 353 0 97 25 0 0\ncpu0 1 2 3\n"))
	if steal != 0.25 || math.Abs(busy-74.04) > 1e-9 || math.Abs(total-1502.43) > 1e-9 {
		t.Errorf("%v %v %v", steal, busy, total)
	}
	for _, raw := range []string{"", "cpu", "cpu 1 2 3", "cpu 1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8"} {
		if steal, _, _ := parseStat([]byte(raw)); !math.IsNaN(steal) {
			t.Errorf("%q: %v", raw, steal)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("cpu  4411 0 2896 142461 353 0 97 25 0 0\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if steal, busy, total := parseStat(raw); steal < 0 || busy < 0 || steal+busy > total*(1+1e-9) {
			t.Fatal(steal, busy, total)
		}
	})
}

func TestParseCPUInfo(t *testing.T) {
	for _, c := range []struct {
		raw, model string
		virtual    bool
	}{
		{"processor\t: 0\nmodel\t: 2\nmodel name\t: Fast 9000: X\nflags\t\t: fpu hypervisor sse\n\nprocessor : 1\nmodel name : Other\n", "Fast 9000: X", true},
		{"model name : Fast\nflags : fpu nohypervisor\n", "Fast", false},
		{"CPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n", "implementer 0x41 part 0xd0c variant 0x3", false},
		{"", "", false},
	} {
		if model, virtual := parseCPUInfo([]byte(c.raw)); model != c.model || virtual != c.virtual {
			t.Errorf("%q: %q, %v", c.raw, model, virtual)
		}
	}
}

func TestControlGroupLimits(t *testing.T) {
	write := func(root string, files map[string]string) string {
		for name, text := range files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return root
	}
	for _, c := range []struct {
		name   string
		files  map[string]string
		cpus   float64
		memory int64
	}{
		{"none", map[string]string{"self": "0::/\n"}, 0, 0},
		{"version 2", map[string]string{
			"self": "0::/a/b\n", "a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n", "a/memory.max": "4096000\n", "a/b/memory.max": "8192000\n",
		}, 1.5, 4096000},
		{"a container", map[string]string{"self": "0::/not/visible\n", "cpu.max": "50000 100000\n", "memory.max": "max\n"}, 0.5, 0},
		{"version 1", map[string]string{
			"self": "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n", "cpu/x/cpu.cfs_quota_us": "200000\n", "cpu/x/cpu.cfs_period_us": "100000\n",
			"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n", "memory/x/memory.limit_in_bytes": "1048576\n", "memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 2, 1048576},
	} {
		root := write(t.TempDir(), c.files)
		if cpus, memory := controlGroupLimits(filepath.Join(root, "self"), root); cpus != c.cpus || memory != c.memory {
			t.Errorf("%s: %v, %d, want %v, %d", c.name, cpus, memory, c.cpus, c.memory)
		}
	}
}
