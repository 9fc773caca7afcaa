package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// buildBinary builds the program once for all tests, with the engines that this machine has.
var buildBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("FRONTIER_BIN"); path != "" {
		return path, nil
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command(filepath.Join(root, "scripts", "build.sh")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return filepath.Join(root, "bin", "frontier"), nil
})

// frontier runs the program with args, and returns what it printed. Any exit code but 0 ends the test.
func frontier(t *testing.T, cache string, args ...string) (stdout, stderr string) {
	t.Helper()
	path, err := buildBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "FRONTIER_CACHE="+cache)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("frontier %q: %v\n%s", args, err, errOut.String())
	}
	return out.String(), errOut.String()
}

// column is a line of "frontier schema results --json".
type column struct {
	Name, Group, Type, Unit, Better, Doc string
	Exact                                bool
}

func documentedColumns(t *testing.T) []column {
	t.Helper()
	out, _ := frontier(t, t.TempDir(), "schema", "results", "--json")
	var columns []column
	if err := json.Unmarshal([]byte(out), &columns); err != nil {
		t.Fatalf("reading the columns: %v", err)
	}
	if len(columns) < 100 {
		t.Fatalf("only %d columns are documented", len(columns))
	}
	return columns
}

// engines are the names of the engines that the binary has.
func engines(t *testing.T) map[string]bool {
	t.Helper()
	out, _ := frontier(t, t.TempDir(), "engines", "--json")
	var list []struct {
		Name   string
		Absent string
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("reading the engines: %v", err)
	}
	have := map[string]bool{}
	for _, e := range list {
		have[e.Name] = e.Absent == ""
	}
	return have
}

// write writes a file below dir and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// testdata is the path of name in the folder of real data, or skips the test.
func testdata(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("FRONTIER_TEST_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	path, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("test data is absent (set FRONTIER_TEST_DATA to its folder): %v", err)
	}
	return path
}
