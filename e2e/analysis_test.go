package e2e

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipe is a fenced block of docs/analysis.md.
type recipe struct{ heading, language, text string }

// recipes are all of them; a page without any is an error.
func recipes(t *testing.T) []recipe {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "docs", "analysis.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []recipe
	heading := ""
	block := regexp.MustCompile("(?ms)^#+ ([^\n]*)$|^```(\\w+)\n(.*?)^```$")
	for _, m := range block.FindAllStringSubmatch(string(raw), -1) {
		if m[1] != "" {
			heading = m[1]
			continue
		}
		out = append(out, recipe{heading, m[2], m[3]})
	}
	if len(out) < 15 {
		t.Fatalf("docs/analysis.md has only %d recipes", len(out))
	}
	return out
}

// analysed makes the two results folders that the recipes are about, and moves to the folder that holds them.
func analysed(t *testing.T) {
	t.Helper()
	page, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeText(t, dir)
	sweepFile := func(k1 float64) string {
		return fmt.Sprintf(`
version: 1
name: text
seed: 7
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
chunkers: [{kind: recursive, unit: words, size: 40, overlap: 0}]
embedders: [{kind: hash, dim: [16, 256]}]
indexes:
  - {engine: flat}
  - {engine: bleve, k1: %v, b: 0.75, analyzer: standard}
measure: {k: [1, 10], load: [{closed: 1}], rounds: 2, min_time: 20ms, warmup: 5ms, max_time: 2s}
objectives: [recall_at_10:max, latency_p99_seconds:min]
cost: {qps: 50, replicas: 2}
`, k1)
	}
	cache := filepath.Join(dir, "cache")
	frontier(t, cache, "sweep", write(t, dir, "before.yaml", sweepFile(1.2)), "--out", filepath.Join(dir, "out", "quickstart"))
	frontier(t, cache, "sweep", write(t, dir, "after.yaml", sweepFile(0.4)), "--out", filepath.Join(dir, "out", "after"))
	t.Chdir(dir)
	t.Cleanup(func() { _ = os.Chdir(page) })
}

// TestAnalysis runs each recipe of docs/analysis.md as it stands there, and compares those that pareto can answer with
// what pareto answers.
func TestAnalysis(t *testing.T) {
	all := recipes(t)
	if _, err := buildBinary(); err != nil {
		t.Fatal(err)
	}
	analysed(t)
	r := results{openDuckDB(t), "out/quickstart"}
	answers := map[string][][]any{}
	for _, recipe := range all {
		t.Run(recipe.heading, func(t *testing.T) {
			switch recipe.language {
			case "sql":
				r.table(t, recipe.text)
				// However slow the machine is, some point is within the limits.
				rows := r.table(t, strings.NewReplacer("0.020", "1e6", "(50)", "(1e9)").Replace(recipe.text))
				if len(rows) == 0 {
					t.Error("it gives no row")
				}
				answers[recipe.heading] = rows
			case "python":
				if out := python(t, recipe.text, "pandas", "pyarrow", "hdrh"); strings.TrimSpace(out) == "" {
					t.Error("it prints nothing")
				}
			default:
				t.Errorf("a block in %q, which no test runs", recipe.language)
			}
		})
	}

	pareto := func(args ...string) []string {
		out, _ := frontier(t, t.TempDir(), append([]string{"pareto", "out/quickstart", "--columns", "point_id", "--format", "csv"}, args...)...)
		ids := strings.Fields(out)[1:]
		slices.Sort(ids)
		return ids
	}
	ids := func(heading string, column int) []string {
		var out []string
		for _, row := range answers[heading] {
			out = append(out, fmt.Sprint(row[column]))
		}
		slices.Sort(out)
		return out
	}
	if got, want := ids("The frontier for other objectives", 0), pareto(); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the frontier is %v in SQL, and %v by pareto", got, want)
	}
	under := answers["The best under a latency"]
	if want := pareto("--best-under", "latency_p99_seconds <= 1000000"); len(under) == 0 || !slices.Contains(want, fmt.Sprint(under[0][0])) {
		t.Errorf("the best under a limit is %v in SQL, and %v by pareto", under, want)
	}
	changed := map[string]int{}
	for _, row := range answers["What changed between two runs"] {
		changed[fmt.Sprint(row[4])]++
	}
	if changed["in both"] != 2 || changed["added"] != 1 || changed["removed"] != 1 {
		t.Errorf("between two runs that differ in BM25 alone: %v", changed)
	}
	if got := answers["Two runs as one table"]; len(got) != 2 {
		t.Errorf("two runs in one table are %v", got)
	}
}

// python runs a script with a Python that has the modules, or skips the test.
func python(t *testing.T, script string, modules ...string) string {
	t.Helper()
	path := os.Getenv("FRONTIER_PYTHON")
	if path == "" {
		var err error
		if path, err = exec.LookPath("python3"); err != nil {
			t.Skip("there is no python3; install it, or set FRONTIER_PYTHON")
		}
	}
	if out, err := exec.Command(path, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skipf("%s lacks a module: %s; run: python3 -m venv v && v/bin/pip install pandas pyarrow hdrhistogram, and set FRONTIER_PYTHON to v/bin/python", path, lines[len(lines)-1])
	}
	cmd := exec.Command(path, "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The queries that the report ends with run as they stand, in the results folder, also where its files of questions differ
// in their columns: those of a lexical index have no recall against exact search.
func TestQueriesOfTheReport(t *testing.T) {
	if _, err := buildBinary(); err != nil {
		t.Fatal(err)
	}
	analysed(t)
	page := filepath.Join(t.TempDir(), "report.html")
	frontier(t, t.TempDir(), "report", "out/quickstart", "--objective", "ann_recall_at_10:max", "--objective", "latency_p50_seconds:min", "-o", page)
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("out", "quickstart"))
	r := results{openDuckDB(t), "."}
	found := regexp.MustCompile(`<pre>duckdb -c "(.*?)"</pre>`).FindAllStringSubmatch(string(raw), -1)
	if len(found) < 6 {
		t.Fatalf("the report has %d queries", len(found))
	}
	for _, m := range found {
		if query := html.UnescapeString(m[1]); len(r.table(t, query)) == 0 {
			t.Errorf("%s: no row", query)
		}
	}
}
