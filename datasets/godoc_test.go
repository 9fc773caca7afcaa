package datasets

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func openGodoc(t testing.TB) Corpus {
	t.Helper()
	c, err := OpenCorpus(GodocStd)
	if err != nil {
		t.Skipf("no Go installation with source: %v", err)
	}
	return c
}

func readAll(t testing.TB, c Corpus) []Document {
	t.Helper()
	var all []Document
	for d, err := range c.Documents(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

func sectionText(t testing.TB, d Document, id string) string {
	t.Helper()
	for _, s := range d.Sections {
		if s.ID == id {
			return string([]rune(d.Text)[s.Start:s.End])
		}
	}
	t.Fatalf("%s has no section %q", d.ID, id)
	return ""
}

func TestGodoc(t *testing.T) {
	c := openGodoc(t)
	all := readAll(t, c)
	if len(all) < 100 {
		t.Errorf("%d packages, want at least 100", len(all))
	}
	byID := map[string]Document{}
	for _, d := range all {
		byID[d.ID] = d
		if strings.Contains(d.ID, "internal") || strings.HasPrefix(d.ID, "cmd") || strings.Contains(d.ID, "vendor") {
			t.Errorf("%s is not importable", d.ID)
		}
		points := len([]rune(d.Text))
		seen := map[string]bool{}
		for _, s := range d.Sections {
			if s.Start < 0 || s.Start >= s.End || s.End > points {
				t.Errorf("%s#%s: [%d, %d) of %d code points", d.ID, s.ID, s.Start, s.End, points)
			}
			if seen[s.ID] {
				t.Errorf("%s#%s twice", d.ID, s.ID)
			}
			seen[s.ID] = true
		}
	}
	if !slices.IsSortedFunc(all, func(a, b Document) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("not in order of import path")
	}
	for _, want := range []struct{ doc, section, starts, contains string }{
		{"net/http", "Server.Shutdown", "func (", "Shutdown gracefully shuts down the server"},
		{"net/http", "overview", "package http", "Package http provides HTTP client and server implementations"},
		{"net/http", "Handler.ServeHTTP", "ServeHTTP(ResponseWriter, *Request)", ""},
		{"net/http", "StatusTeapot", "StatusTeapot", "418"},
		{"net/http", "Server", "type Server struct {", "ReadHeaderTimeout"},
		{"net/http", "ErrServerClosed", "var ErrServerClosed", "ListenAndServe"},
		{"context", "Context.Done", "// Done returns", "Done() <-chan struct{}"},
		{"sync/atomic", "Pointer.Load", "func (x *Pointer[T]) Load() *T", "atomically"},
		{"time", "RFC3339", "RFC3339 ", "2006-01-02T15:04:05Z07:00"},
		{"builtin", "append", "func append(", "appends elements"},
		{"os", "ReadFile", "func ReadFile(name string)", "reads the named file"},
	} {
		d, ok := byID[want.doc]
		if !ok {
			t.Errorf("no document %s", want.doc)
			continue
		}
		got := sectionText(t, d, want.section)
		if !strings.HasPrefix(got, want.starts) || !strings.Contains(got, want.contains) {
			t.Errorf("%s#%s is %q, want %q first and %q inside", want.doc, want.section, got, want.starts, want.contains)
		}
		if strings.HasSuffix(got, "\n") {
			t.Errorf("%s#%s ends in a newline", want.doc, want.section)
		}
	}
	if server := sectionText(t, byID["net/http"], "Server"); strings.Contains(server, "func (") {
		t.Error("the section of a type holds its methods")
	}
	units, err := resolveAll(t, oneCase(Evidence{DocumentID: "net/http", SectionID: "Server.Shutdown", Relevance: 2}), all)
	if err != nil {
		t.Fatal(err)
	}
	span := units[0][0].Spans[0]
	if d := all[span.Doc]; !strings.Contains(string([]rune(d.Text)[span.Start:span.End]), "Shutdown gracefully") {
		t.Errorf("evidence resolves to %+v of %s", span, d.ID)
	}
	const again = 20 // packages: the rest costs as much time as it did above
	n := 0
	for d, err := range c.Documents(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(d, all[n]) {
			t.Errorf("two readings of %s differ", d.ID)
		}
		if n++; n == again {
			break
		}
	}
}

// In Debian's packages of Go, src is a link to a folder elsewhere.
func TestGodocOfLinkedSource(t *testing.T) {
	root, share := t.TempDir(), writeFiles(t, map[string]string{"fmt/print.go": "// Package fmt prints.\npackage fmt\n", "fmt/internal/x.go": "package x\n"})
	if err := os.Symlink(share, filepath.Join(root, "src")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOROOT", root)
	c, err := OpenCorpus(GodocStd)
	if err != nil {
		t.Fatal(err)
	}
	if all := readAll(t, c); len(all) != 1 || all[0].ID != "fmt" {
		t.Errorf("documents are %+v", all)
	}
}

func TestGodocStopsEarly(t *testing.T) {
	c := openGodoc(t)
	n := 0
	for _, err := range c.Documents(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var last error
	for _, err := range c.Documents(ctx) {
		last = err
	}
	if last == nil {
		t.Error("a cancelled reading ends without an error")
	}
}

func TestGorootMissing(t *testing.T) {
	t.Setenv("GOROOT", t.TempDir())
	if _, err := OpenCorpus(GodocStd); err == nil || !strings.Contains(err.Error(), "GOROOT") {
		t.Errorf("error is %v", err)
	}
}

func TestReleaseTags(t *testing.T) {
	for version, want := range map[string]string{"go1.22.3": "go1.22", "go1.26": "go1.26", "go1.27rc1": "go1.27"} {
		tags := releaseTags(version)
		if tags[0] != "go1.1" || tags[len(tags)-1] != want {
			t.Errorf("%s: %v", version, tags)
		}
	}
}

func BenchmarkGodoc(b *testing.B) {
	c := openGodoc(b)
	for b.Loop() {
		if n := len(readAll(b, c)); n < 100 {
			b.Fatalf("%d packages", n)
		}
	}
}
