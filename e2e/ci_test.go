package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCIPage runs docs/ci.md: a block of YAML with a file name becomes that file, and blocks of shell are run in
// order, in one folder. exit=3 after sh is the exit code of the last command; may-fail is for what depends on the machine.
func TestCIPage(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := buildBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	if binary, err = filepath.Abs(binary); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(bin, "frontier")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "FRONTIER_CACHE="+filepath.Join(dir, "cache"))
	shell, files := 0, 0
	for _, block := range regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1) {
		language, rest, _ := strings.Cut(block[1], " ")
		switch language {
		case "yaml":
			if rest == "" {
				t.Fatalf("a block of YAML without a file name:\n%s", block[2])
			}
			write(t, dir, rest, block[2])
			files++
			if strings.HasPrefix(block[2], "version:") {
				continue // a sweep file, which a block of shell runs
			}
			// Whatever it asks for, a policy must be a good one.
			cmd := exec.Command(binary, "gate", "--policy", rest, "--record", "absent", "-o", "absent.json")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), rest) || !strings.Contains(string(out), "absent") {
				t.Errorf("%s is not a policy: %v\n%s", rest, err, out)
			}
		case "sh":
			shell++
			want := 0
			if code, ok := strings.CutPrefix(rest, "exit="); ok {
				if want, err = strconv.Atoi(code); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("bash", "-c", "set -e\n"+block[2])
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.CombinedOutput()
			got := cmd.ProcessState.ExitCode()
			if rest == "may-fail" && got == 3 {
				continue // the machine decides
			}
			if got != want {
				t.Fatalf("%sends with %d, want %d: %v\n%s", block[2], got, want, err, out)
			}
		default:
			t.Errorf("a block of %q, which nothing runs", block[1])
		}
	}
	if shell < 7 || files < 4 {
		t.Errorf("only %d blocks of shell and %d files", shell, files)
	}
	for _, name := range []string{"gate.md", "gate.xml", "gate.json", "card.md", "baseline.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
