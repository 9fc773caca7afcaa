package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontier/chunkers"
	"frontier/embedders"
	"frontier/indexes/engines"
	"frontier/internal/param"
	"frontier/results"
)

func TestPagesAreCurrent(t *testing.T) {
	for _, p := range pages() {
		path := filepath.Join("..", "..", "docs", p.name)
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != p.text {
			t.Errorf("docs/%s is not what the code declares; run: go generate ./internal/docgen", p.name)
		}
	}
}

// Every line of a table has as many cells as its heading, whatever the texts hold.
func TestTablesAreWhole(t *testing.T) {
	for _, p := range pages() {
		cells := 0
		for i, line := range strings.Split(p.text, "\n") {
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if cells == 0 {
				cells = n
			}
			if n != cells {
				t.Errorf("%s:%d has %d bars, the heading has %d: %s", p.name, i+1, n, cells, line)
			}
		}
	}
}

func TestPagesNameEverything(t *testing.T) {
	components, columns := componentsPage(), columnsPage()
	wantParams := func(owner string, specs []param.Spec) {
		for _, s := range specs {
			if !strings.Contains(components, "| `"+s.Name+"` |") {
				t.Errorf("components.md does not have %s of %s", s.Name, owner)
			}
		}
	}
	wantHeading := func(name string) {
		if !strings.Contains(components, "\n### "+name+"\n") {
			t.Errorf("components.md has no heading %s", name)
		}
	}
	for _, k := range chunkers.Kinds() {
		wantHeading(k.Name)
		wantParams(k.Name, k.Params)
	}
	for _, k := range embedders.Kinds() {
		wantHeading(k.Name)
		wantParams(k.Name, k.Params)
	}
	for _, e := range engines.All() {
		wantHeading(e.Name)
		wantParams(e.Name, e.Params)
		wantParams(e.Name, e.Search)
	}
	for _, c := range results.Columns() {
		if !strings.Contains(columns, "\n| `"+c.Name+"` |") {
			t.Errorf("columns.md does not have %s", c.Name)
		}
	}
}

func TestPlainKeepsText(t *testing.T) {
	got := plain("4*dim + 8*M <bytes> a|b [x] `y`")
	if want := `4\*dim + 8\*M &lt;bytes&gt; a\|b \[x\] ` + "\\`y\\`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBound(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.01: "0.01", 999: "999", 1000: "1,000", 1 << 30: "1,073,741,824", -1000: "-1,000", -100: "-100", 1234.5: "1,234.5"} {
		if got := bound(f); got != want {
			t.Errorf("bound(%v) = %s, want %s", f, got, want)
		}
	}
}
