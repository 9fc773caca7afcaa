package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"cmd/x/main.go":     "package main\nimport \"os\"\nfunc main() { os.Exit(1) }\n",
		"lib/ok.go":         "package lib\nimport (\"fmt\"; \"os\")\n// fmt.Println is only named here: \"os.Exit\".\nfunc F() error { fmt.Fprintln(os.Stderr); return fmt.Errorf(\"os.Exit\") }\n",
		"lib/print.go":      "package lib\nimport f \"fmt\"\nfunc G() { f.Println() }\n",
		"lib/exit.go":       "package lib\nimport \"os\"\nvar quit = os.Exit\n",
		"lib/log.go":        "package lib\nimport \"log\"\nfunc H() { log.Fatal() }\nfunc I() { println() }\n",
		"lib/lib_test.go":   "package lib\nimport \"os\"\nfunc J() { os.Exit(1) }\n",
		"testdata/other.go": "not Go at all",
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := check(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"exit.go:3:12: os.Exit", "log.go:3:12: log.Fatal", "log.go:4:12: println", "print.go:3:12: f.Println"}
	if len(found) != len(want) {
		t.Fatalf("found %d, want %d:\n%s", len(found), len(want), strings.Join(found, "\n"))
	}
	for i, w := range want {
		if !strings.HasPrefix(found[i], filepath.Join(root, "lib", w)) {
			t.Errorf("found %q, want %q", found[i], w)
		}
	}
}

func TestCheckBadFile(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "bad.go"), []byte("package"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := check(root); err == nil {
		t.Error("a file that is not Go was accepted")
	}
}
