package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontier/chunkers"
	"frontier/embedders"
	"frontier/indexes/engines"
	"frontier/results"
	"frontier/sweep/file"
)

const docs = "../../docs"

func guide(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("pages of the guide: %v, %v", paths, err)
	}
	pages := map[string]string{}
	for _, path := range paths {
		pages[filepath.Base(path)] = read(t, path)
	}
	return pages
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var (
	fence  = regexp.MustCompile("(?ms)^```.*?^```$")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	titles = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unslug = regexp.MustCompile(`[^a-z0-9 _-]`)
)

func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range titles.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		found[strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return found
}

// Every relative link leads to a file, and every anchor to a heading.
func TestLinks(t *testing.T) {
	pages := guide(t)
	checked := 0
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			path := filepath.Join(docs, target)
			if target == "" {
				path = filepath.Join(docs, name)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
				continue
			}
			if anchor != "" && !anchors(read(t, path))[anchor] {
				t.Errorf("%s links to %s, which has no heading %q", name, target, anchor)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found", checked)
	}
}

// The index names every page.
func TestIndexIsComplete(t *testing.T) {
	pages := guide(t)
	for name := range pages {
		if name != "README.md" && !strings.Contains(pages["README.md"], "("+name+")") {
			t.Errorf("docs/README.md does not have %s", name)
		}
	}
}

// sweep-file.md has every key that the schema of the sweep file has, parameters of components aside: these are in
// components.md.
func TestSweepFilePageHasEveryKey(t *testing.T) {
	raw, err := file.Schema(file.Registry{Chunkers: chunkers.Kinds(), Embedders: embedders.Kinds(), Engines: engines.All()})
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any            `json:"properties"`
		Defs       map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, component := range []string{"chunkers", "embedders", "index", "hybrid"} {
		delete(schema.Defs, component)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key := range properties {
				keys[key] = true
			}
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(map[string]any{"properties": schema.Properties})
	for _, def := range schema.Defs {
		walk(def)
	}
	if len(keys) < 60 {
		t.Errorf("the schema has only %d keys", len(keys))
	}
	page := guide(t)["sweep-file.md"]
	for key := range keys {
		// In a table or a sentence, or with a value.
		if !regexp.MustCompile("`([a-z_]+\\.)?" + key + "`|[{ ]" + key + ": ").MatchString(page) {
			t.Errorf("sweep-file.md does not have the key %s", key)
		}
	}
}

// Every check that measurement.md names runs at least one test or benchmark.
func TestChecksExist(t *testing.T) {
	command := regexp.MustCompile("`go test(?: -(run|bench) ('[^']*'|[^ `]+))?(?: -run '\\^\\$')? (\\./[a-z/]+)`")
	text := guide(t)["measurement.md"]
	found := command.FindAllStringSubmatch(text, -1)
	if all := strings.Count(text, "`go test"); all == 0 || len(found) != all {
		t.Fatalf("understood %d of %d commands", len(found), all)
	}
	for _, m := range found {
		prefix := "Test"
		if m[1] == "bench" {
			prefix = "Benchmark"
		}
		wanted := regexp.MustCompile(strings.Trim(m[2], "'"))
		paths, err := filepath.Glob(filepath.Join("..", "..", m[3], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		names := 0
		for _, path := range paths {
			for _, f := range regexp.MustCompile(`(?m)^func (`+prefix+`\w+)\(`).FindAllStringSubmatch(read(t, path), -1) {
				if wanted.MatchString(f[1]) {
					names++
				}
			}
		}
		if names == 0 {
			t.Errorf("%s runs nothing", m[0])
		}
	}
}

// Names in the form of a column are columns.
func TestColumnsThatTheGuideNames(t *testing.T) {
	code := regexp.MustCompile("`((?:latency|memory|queries|chunk|ann|recall|hit_rate|precision|ndcg|mrr|map|judged|build|embed|cost_usd|stage|steal|machine)_[a-z0-9_]*(?:_at_(?:K|10)[a-z_]*)?)`")
	other := map[string]bool{
		"embed_query":     true, // a stage, a key of the maps
		"latency_seconds": true, // a column of the query files
	}
	checked := 0
	for _, name := range []string{"measurement.md", "results.md"} {
		for _, m := range code.FindAllStringSubmatch(guide(t)[name], -1) {
			column := strings.Replace(m[1], "_at_K", "_at_10", 1)
			if strings.HasSuffix(column, "_") || other[m[1]] {
				continue
			}
			checked++
			if _, ok := results.Lookup(column); !ok {
				t.Errorf("%s names the column %s, which does not exist", name, m[1])
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d names were checked", checked)
	}
}
