package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the tests see")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "(end)", "(end)"
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Fatalf("%s differs first in line %d (run with -update if the change is meant):\ngot  %.300s\nwant %.300s", path, i+1, g, w)
		}
	}
}

func objectives(t testing.TB, texts ...string) []Objective {
	t.Helper()
	objs, err := ParseObjectives(texts)
	if err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestWriteTable(t *testing.T) {
	rows, _ := sampleText()
	rows = append(rows[3:8], rows[len(rows)-1])
	columns := DefaultColumns(rows, objectives(t, "recall_at_10", "latency_p99_seconds", "cost_usd_per_month"))
	for format, file := range map[string]string{"table": "table.txt", "markdown": "table.md", "json": "table.json", "csv": "table.csv"} {
		var b bytes.Buffer
		if err := WriteTable(&b, rows, columns, format); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.Bytes())
	}
}

// All columns at their most awkward, in every format: what machines read parses and holds base units.
func TestWriteTableOfEverything(t *testing.T) {
	rows := sparseRows()
	rows[0]["name"] = "a|b,\"c\"\nd<script>"
	rows[0]["error"] = "<b>failed"
	var columns []string
	for _, f := range newCatalogue().expand([]int{1, 10}) {
		columns = append(columns, f.name)
	}
	var b bytes.Buffer
	if err := WriteTable(&b, rows, columns, "json"); err != nil {
		t.Fatal(err)
	}
	var parsed []map[string]any
	if err := json.Unmarshal(b.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed[0]["name"] != rows[0]["name"] || parsed[0]["latency_p99_seconds"] != rows[0]["latency_p99_seconds"] || parsed[1]["qps"] != nil {
		t.Errorf("JSON lost a value: %v", parsed)
	}
	if _, there := parsed[1]["qps"]; !there {
		t.Error("a null is absent from JSON")
	}
	b.Reset()
	if err := WriteTable(&b, rows, columns, "csv"); err != nil {
		t.Fatal(err)
	}
	cells, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(cells) != 4 || !reflect.DeepEqual(cells[0], columns) || cells[1][3] != rows[0]["name"] {
		t.Errorf("CSV: %v, %v", cells, err)
	}
	for _, format := range []string{"table", "markdown"} {
		b.Reset()
		if err := WriteTable(&b, rows, columns, format); err != nil {
			t.Fatal(err)
		}
		if format == "markdown" && (!strings.Contains(b.String(), `a\|b,"c" d&lt;script>`) || !strings.Contains(b.String(), "&lt;b>failed")) {
			t.Errorf("markdown does not escape cells:\n%s", b.String())
		}
	}
}

func TestWriteTableRefuses(t *testing.T) {
	for _, tt := range []struct{ column, format, want string }{
		{"qqps", "table", `unknown column "qqps" (did you mean "qps"?)`},
		{"qps", "yaml", `unknown format "yaml"; the formats are table, json, csv, markdown`},
	} {
		var b bytes.Buffer
		if err := WriteTable(&b, nil, []string{tt.column}, tt.format); err == nil || err.Error() != tt.want || b.Len() > 0 {
			t.Errorf("%+v: error %v after %q", tt, err, b.String())
		}
	}
}

// reportOf is the report of one run. m may be nil where there is no manifest.
func reportOf(w io.Writer, rows []Row, m *Manifest, objs []Objective) error {
	var sources []Source
	if m != nil {
		sources = []Source{{Manifest: m}}
	}
	return ReportRuns(w, rows, sources, objs)
}

func TestReport(t *testing.T) {
	rows, m := sampleText()
	var b bytes.Buffer
	if err := reportOf(&b, rows, m, objectives(t, "recall_at_10", "latency_p99_seconds", "cost_usd_per_month")); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", b.Bytes())
	text := b.String()
	for _, forbidden := range []string{"<script", "src=\"http", "href=\"http", "@import", "ZgotmplZ"} {
		if strings.Contains(text, forbidden) {
			t.Errorf("the report is not self-contained and plain: it holds %q", forbidden)
		}
	}
}

func TestReportOfVectorsWithoutManifest(t *testing.T) {
	var b bytes.Buffer
	if err := reportOf(&b, sampleVectors(), nil, objectives(t, "ann_recall_at_10", "qps")); err != nil {
		t.Fatal(err)
	}
	golden(t, "report_vectors.html", b.Bytes())
}

// What comes from users' files reaches the page as text.
func TestReportEscapes(t *testing.T) {
	rows := sampleVectors()
	evil := `<img src=x onerror="alert(1)">`
	rows[0]["engine"], rows[0]["warnings"], rows[0]["point_id"] = evil, []string{evil}, evil
	var b bytes.Buffer
	m := &Manifest{Name: evil, Dataset: evil, Started: time.Unix(0, 0), Sweep: evil, Assumptions: []string{evil}}
	if err := reportOf(&b, rows, m, objectives(t, "ann_recall_at_10", "qps")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<img") {
		t.Error("text from a results folder became markup")
	}
}

func TestReportOfNothing(t *testing.T) {
	for _, rows := range [][]Row{nil, {{"point_id": "p", "status": "crashed", "error": "boom"}}, {{"point_id": "p", "status": "ok"}}} {
		var b bytes.Buffer
		if err := reportOf(&b, rows, nil, objectives(t, "recall_at_10", "latency_p99_seconds")); err != nil {
			t.Errorf("%v: %v", rows, err)
		}
		if !strings.Contains(b.String(), "There is no picture") {
			t.Errorf("%v: the report does not say that there is no picture", rows)
		}
	}
}

func TestPlot(t *testing.T) {
	text, _ := sampleText()
	for name, tt := range map[string]struct {
		rows []Row
		objs []Objective
	}{
		"text":      {text, objectives(t, "recall_at_10", "latency_p99_seconds", "cost_usd_per_month")},
		"vectors":   {sampleVectors(), objectives(t, "ann_recall_at_10", "qps")},
		"one":       {text[:1], objectives(t, "ndcg_at_10")},
		"all equal": {[]Row{text[0], text[0]}, objectives(t, "ndcg_at_10", "cost_usd_per_month")},
		"a rounding apart": {[]Row{
			{"point_id": "a", "status": "ok", "recall_at_10": 0.9, "cost_usd_per_month": 1000.0},
			{"point_id": "b", "status": "ok", "recall_at_10": math.Nextafter(0.9, 1), "cost_usd_per_month": math.Nextafter(1000, 2000)},
		}, objectives(t, "recall_at_10", "cost_usd_per_month")},
		"latency up":  {text, objectives(t, "latency_p99_seconds", "recall_at_10")},
		"zero values": {[]Row{{"point_id": "p", "status": "ok", "recall_at_10": 0.0, "latency_p99_seconds": 0.0}}, objectives(t, "recall_at_10")},
	} {
		var b bytes.Buffer
		if err := Plot(&b, tt.rows, tt.objs, "png"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := png.Decode(&b)
		if err != nil || img.Bounds().Dx() < 1000 {
			t.Errorf("%s: picture of %v, %v", name, img, err)
		}
		if err := Plot(&b, tt.rows, tt.objs, "svg"); err != nil || !strings.Contains(b.String(), "</svg>") {
			t.Errorf("%s as SVG: %v", name, err)
		}
	}
	var b bytes.Buffer
	if err := Plot(&b, nil, objectives(t, "recall_at_10"), "png"); !errors.Is(err, ErrNothingToPlot) {
		t.Errorf("no rows: error %v, want ErrNothingToPlot", err)
	}
	if err := Plot(&b, text, objectives(t, "recall_at_10"), "gif"); err == nil || !strings.Contains(err.Error(), "png and svg") {
		t.Errorf("gif: error %v", err)
	}
	if err := Plot(&b, text, objectives(t, "latency_p99_seconds"), "png"); err == nil || !strings.Contains(err.Error(), "give a second one") {
		t.Errorf("latency alone: error %v", err)
	}
}

func TestScaling(t *testing.T) {
	column := func(name string) Column {
		c, ok := Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		return c
	}
	for _, tt := range []struct {
		column string
		values []float64
		want   string
	}{
		{"latency_p99_seconds", []float64{0.00123}, "1.23 ms"},
		{"latency_p99_seconds", []float64{0.0000421}, "42.1 us"},
		{"build_seconds", []float64{47.25}, "47.2 s"},
		{"build_seconds", []float64{4725}, "4,725 s"},
		{"index_bytes", []float64{3 << 19}, "1.50 MiB"},
		{"index_bytes", []float64{512}, "512 B"},
		{"memory_serving_bytes", []float64{1 << 40}, "1.00 TiB"},
		{"recall_at_10", []float64{0.8512}, "0.851 "},
		{"cost_usd_per_month", []float64{1234.5}, "1,234.50 USD"},
		{"cost_usd_per_million_queries", []float64{0.000213}, "0.000213 USD"},
		{"qps", []float64{29032.2}, "29,032 queries/s"},
		{"vectors", []float64{100000}, "100,000 "},
		{"m", []float64{16}, "16 "},
		{"ef_search", []float64{1024}, "1024 "},
		{"fusion_param", []float64{60}, "60 "},
		{"fusion_param", []float64{0.3}, "0.300 "},
		{"latency_p99_seconds", []float64{0}, "0 ns"},
		{"chunk_size", []float64{512}, "512 "},
	} {
		s := scalingOf(column(tt.column), tt.values)
		if got := s.format(tt.values[0]) + " " + s.label; got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.column, tt.values, got, tt.want)
		}
	}
	for text, want := range map[string]string{"-1234567.5": "-1,234,567.5", "999": "999", "1000": "1,000"} {
		if got := grouped(text); got != want {
			t.Errorf("grouped(%q) = %q, want %q", text, got, want)
		}
	}
	for name, want := range map[string]string{"ndcg_at_10": "nDCG@10", "ann_recall_at_1": "ANN recall@1", "latency_p99_seconds": "latency p99", "cost_usd_per_month": "cost per month", "recall_at_5_low": "recall@5 low", "index_bytes": "index", "mrr": "MRR"} {
		if got := heading(name); got != want {
			t.Errorf("heading(%q) = %q, want %q", name, got, want)
		}
	}
}
