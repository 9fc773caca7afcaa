package results

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// mixedRows are of two data sets, the first measured on two machines. The points of "small" would dominate all others.
func mixedRows() []Row {
	row := func(id, data, digest, machine string, cores int64, recall, latency float64) Row {
		return Row{
			"point_id": id, "run_id": "run-" + data, "status": "ok", "engine": "flat", "dataset": data, "dataset_digest": digest,
			"machine_digest": machine, "cpu": "CPU " + machine, "cores": cores, "recall_at_10": recall, "latency_p99_seconds": latency,
		}
	}
	return []Row{
		row("a", "large", "d1", "m1", 2, 0.5, 0.010),
		row("b", "small", "d2", "m1", 2, 0.9, 0.001),
		row("c", "large", "d1", "m2", 8, 0.6, 0.020),
		row("d", "large", "d1", "m1", 2, 0.4, 0.030),
		{"point_id": "e", "status": "crashed", "dataset": "large", "dataset_digest": "d1"},
	}
}

func ids(rows []Row) string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Text("point_id"))
	}
	return strings.Join(out, " ")
}

func TestGroups(t *testing.T) {
	groups := Groups(mixedRows())
	if len(groups) != 2 || groups[0].Digest != "d1" || ids(groups[0].Rows) != "a c d e" || ids(groups[1].Rows) != "b" {
		t.Fatalf("got %+v", groups)
	}
	if want := []Machine{{"m1", "CPU m1", 2, 2}, {"m2", "CPU m2", 8, 1}}; !reflect.DeepEqual(groups[0].Machines, want) {
		t.Errorf("machines %+v, want %+v", groups[0].Machines, want)
	}
	front, err := groups[0].Frontier(objectives(t, "recall_at_10", "latency_p99_seconds"))
	if err != nil || ids(front) != "a c" {
		t.Errorf("frontier of the first data set: %s, %v; no point of another may dominate it", ids(front), err)
	}
	if got := Groups(nil); got != nil {
		t.Errorf("groups of nothing: %v", got)
	}
	// What nobody knows the data of is not compared with what is known.
	if got := Groups([]Row{{"point_id": "x", "dataset_digest": "d"}, {"point_id": "y"}}); len(got) != 2 {
		t.Errorf("a row without a digest joined another group: %+v", got)
	}
}

func TestMixWarnings(t *testing.T) {
	got := MixWarnings(Groups(mixedRows()))
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	text := ""
	for _, w := range got {
		text += w.Text + "\n" + strings.Join(w.Choices, "\n") + "\n"
	}
	for _, want := range []string{
		"of 2 data sets", `large (digest d1): 4 rows; --where 'dataset_digest == "d1"'`, `small (digest d2): 1 row; `,
		"on 2 different machines", `cpu CPU m2, cores 8: 1 row; --where 'machine_digest == "m2"'`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	// The conditions do what they say.
	for _, w := range got {
		for _, choice := range w.Choices {
			_, condition, _ := strings.Cut(choice, "--where '")
			holds, err := Where(strings.TrimSuffix(condition, "'"))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, r := range mixedRows() {
				if ok, err := holds(r); err != nil {
					t.Fatal(err)
				} else if ok {
					n++
				}
			}
			if n == 0 || n == len(mixedRows()) {
				t.Errorf("%s chooses %d rows", choice, n)
			}
		}
	}
	if w := MixWarnings(Groups(mixedRows()[:1])); w != nil {
		t.Errorf("one row is mixed: %v", w)
	}
}

// Each data set has a section with its own frontier, and both manifests are named.
func TestReportOfSeveralDataSets(t *testing.T) {
	sources := []Source{
		{Path: "out/large/manifest.json", Manifest: &Manifest{RunID: "run-large", Name: "first", Seed: 7, Dataset: "large", Assumptions: []string{"same"}}},
		{Path: "out/small/manifest.json", Manifest: &Manifest{RunID: "run-small", Name: "second", Seed: 9, Dataset: "small", Assumptions: []string{"same"}, Warnings: []string{"odd"}}},
	}
	rows := append(mixedRows(), Row{"point_id": "z", "run_id": "lost", "status": "ok", "dataset": "small", "dataset_digest": "d2"})
	var b bytes.Buffer
	if err := ReportRuns(&b, rows, sources, objectives(t, "recall_at_10", "latency_p99_seconds")); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for want, n := range map[string]int{
		"<section ": 2, "<svg": 2, "<h1>first, second</h1>": 1, "2 of 4 points are on the frontier": 1, "1 of 2 points is on the frontier": 1,
		"out/large/manifest.json": 2, "out/small/manifest.json": 2, "<li>same</li>": 1, "second: odd": 1, "There is no manifest for 2 rows": 2,
		"on 2 different machines": 1, ">7</dd>": 1, ">9</dd>": 1,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%q is there %d times, want %d", want, got, n)
		}
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "none"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "parts"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeRows(t, filepath.Join(dir, name, "parts", "x.parquet"), []Row{{"point_id": name}})
		if name != "none" {
			if err := WriteManifest(filepath.Join(dir, name), &Manifest{RunID: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, paths := range map[string][]string{
		"a":   {"a", "a/parts", "a/parts/x.parquet", "none", "missing"},
		"a b": {"*", "b"},
		"b a": {"b/parts/*.parquet", "a"},
		"":    {"none", "["},
	} {
		full := make([]string, len(paths))
		for i, p := range paths {
			full[i] = filepath.Join(dir, p)
		}
		sources, err := Sources(full...)
		var got []string
		for _, s := range sources {
			got = append(got, s.Manifest.RunID)
			if s.Path != filepath.Join(dir, s.Manifest.RunID, ManifestFile) {
				t.Errorf("%v: path %s", paths, s.Path)
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%v: %v, %v; want %q", paths, got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a", ManifestFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Sources(filepath.Join(dir, "a")); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "a")) {
		t.Errorf("a broken manifest: %v", err)
	}
}
