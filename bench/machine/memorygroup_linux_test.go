package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryGroupParent(t *testing.T) {
	mount := t.TempDir()
	for _, dir := range []string{"memory/job", "unified", "handed"} {
		if err := os.MkdirAll(filepath.Join(mount, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"handed": "cpu memory\n", "unified": "cpu\n"} {
		if err := os.WriteFile(filepath.Join(mount, name, "cgroup.subtree_control"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for self, want := range map[string][2]string{
		"9:cpu:/\n4:memory:/job\n0::/\n": {filepath.Join(mount, "memory/job"), "memory.limit_in_bytes"},
		"4:memory:/of/the/host\n":        {"", "memory.limit_in_bytes"},
		"0::/handed\n":                   {filepath.Join(mount, "handed"), "memory.max"},
		"0::/unified\n":                  {"", ""},
		"0::/gone\n":                     {"", ""},
		"":                               {"", ""},
		"nonsense\n":                     {"", ""},
	} {
		if dir, file := memoryGroupParent(self, mount); dir != want[0] || file != want[1] {
			t.Errorf("%q: %q, %q", self, dir, file)
		}
	}
}
