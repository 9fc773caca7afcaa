package datasets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"frontier/internal/testdata"

	"golang.org/x/sys/unix"
)

// documentsOf reads a corpus of JSON Lines from a string.
func documentsOf(content string) (all []Document, err error) {
	readDocuments(context.Background(), "corpus.jsonl", strings.NewReader(content), func(d Document, e error) bool {
		if e != nil {
			err = e
			return false
		}
		all = append(all, d)
		return true
	})
	return all, err
}

// wantError checks that err is, or holds, an *Error and that its text has all parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	var fault *Error
	if !errors.As(err, &fault) {
		t.Errorf("error is %T %v, want an *Error", err, err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestJSONLDocuments(t *testing.T) {
	got, err := documentsOf("\ufeff" + `{"_id": "a", "title": "T", "text": "x\ny", "year": 1.50, "ok": true, "none": null, "list": [1], "metadata": {"url": "u", "year": 3}}` + "\r\n" +
		"\n" +
		`{"id": 7, "text": "日本語", "title": null, "sections": [{"id": "s", "start": 1, "end": 3}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Document{
		{ID: "a", Title: "T", Text: "x\ny", Fields: map[string]string{"year": "1.50", "ok": "true", "url": "u"}},
		{ID: "7", Text: "日本語", Sections: []Section{{"s", 1, 3}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestJSONLFaults(t *testing.T) {
	good := `{"_id": "a", "text": "x"}` + "\n"
	for name, c := range map[string]struct {
		content string
		parts   []string
	}{
		"empty":            {"", []string{"corpus.jsonl: the corpus is empty"}},
		"only blank lines": {"\n \n\r\n", []string{"the corpus is empty"}},
		"syntax":           {good + `{"_id": "é", "text": x}`, []string{"corpus.jsonl:2:22:", "'x'", "one whole JSON object"}},
		"cut off":          {good + `{"_id": "b", "te`, []string{"corpus.jsonl:2:", "unexpected end"}},
		"array":            {`[{"_id": "a"}]`, []string{":1:1:", "a list"}},
		"null":             {`null`, []string{":1:1:", "null"}},
		"two on a line":    {`{"_id": "a", "text": ""}{"_id": "b", "text": ""}`, []string{":1:25:"}},
		"deep":             {strings.Repeat("[", 100000), []string{":1:", "not JSON"}},
		"no id":            {`{"text": "x"}`, []string{":1:", "no \"_id\""}},
		"null id":          {`{"_id": null, "text": "x"}`, []string{":1:", "no \"_id\""}},
		"empty id":         {`{"_id": "", "text": "x"}`, []string{":1:2:", "empty"}},
		"id is a list":     {`{"_id": ["a"], "text": "x"}`, []string{":1:2:", "a list"}},
		"no text":          {`{"_id": "a", "body": "x"}`, []string{":1:", "\"a\"", "no \"text\""}},
		"text is a number": {`{"_id": "a",  "text": 5}`, []string{":1:15:", "must be a string", "number 5"}},
		"title is a list":  {`{"_id": "a", "text": "", "title": []}`, []string{":1:26:", "title"}},
		"duplicate":        {good + `{"_id": "b", "text": "x"}` + "\n" + good, []string{":3:2:", "line 1", "\"a\""}},
		"invalid UTF-8":    {good + "{\"_id\": \"b\xff\"}", []string{":2:11:", "0xff", "byte offset 36", "iconv"}},
		"Latin-1":          {"{\"_id\": \"b\", \"text\": \"caf\xe9\"}", []string{":1:26:", "0xe9"}},
		"UTF-16 with mark": {"\xff\xfe{\x00\"\x00", []string{"UTF-16"}},
		"UTF-16 without":   {"{\x00\"\x00_\x00i\x00", []string{"UTF-16"}},
		"LFS pointer":      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 8106566\n", []string{"large-file pointer", "git lfs pull"}},
		"annex pointer":    {"/annex/objects/MD5-s1--x\n", []string{"git annex get"}},
		"gzip":             {"\x1f\x8b\x08\x00", []string{"gzip"}},
		"bzip2":            {"BZh91AY&SY\x00", []string{"bzip2"}},
		"Parquet":          {"PAR1\x15\x04", []string{"Parquet"}},
		"carriage returns": {strings.ReplaceAll(good+good, "\n", "\r"), []string{"carriage return"}},
		"sections object":  {`{"_id": "a", "text": "x", "sections": {}}`, []string{":1:27:", "sections", "an object"}},
		"section outside":  {`{"_id": "a", "text": "é", "sections": [{"id": "s", "start": 0, "end": 2}]}`, []string{"\"s\"", "[0, 2)", "1 code points"}},
		"section reversed": {`{"_id": "a", "text": "abc", "sections": [{"id": "s", "start": 2, "end": 1}]}`, []string{"[2, 1)"}},
		"section fraction": {`{"_id": "a", "text": "abc", "sections": [{"id": "s", "start": 0, "end": 1.5}]}`, []string{"whole numbers"}},
		"section twice":    {`{"_id": "a", "text": "abc", "sections": [{"id": "s", "start": 0, "end": 1}, {"id": "s", "start": 0, "end": 1}]}`, []string{"sections[1]", "twice"}},
		"section nameless": {`{"_id": "a", "text": "abc", "sections": [{"start": 0, "end": 1}]}`, []string{"sections[0]", "id"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := documentsOf(c.content)
			wantError(t, err, append(c.parts, "corpus.jsonl")...)
		})
	}
}

func TestTextsAboutFormats(t *testing.T) {
	for _, text := range []string{"BZh begins a file of bzip2", "PAR1 begins a file of Parquet", "PK begins an archive", "version https://example.com"} {
		if got, err := DecodeText("a.txt", []byte(text)); err != nil || got != text {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("é", 3<<20)
	got, err := documentsOf(`{"_id": "a", "text": "` + long + `"}` + "\n" + `{"_id": "b", "text": ""}`)
	if err != nil || len(got) != 2 || got[0].Text != long {
		t.Errorf("%d documents, error %v", len(got), err)
	}
	if testing.Short() {
		return
	}
	_, err = documentsOf(`{"_id": "a", "text": "` + strings.Repeat("x", maxLine))
	wantError(t, err, ":1:", "longer than 64 MiB")
}

func TestOpenCorpusFaults(t *testing.T) {
	dir := t.TempDir()
	for name, part := range map[string]string{"a.txt": "the folder", "a.csv": "unknown type", "a": "unknown type"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenCorpus(path)
		wantError(t, err, path, part)
	}
	_, err := OpenCorpus(filepath.Join(dir, "absent.jsonl"))
	wantError(t, err, "absent.jsonl", "no such corpus")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v is not os.ErrNotExist", err)
	}
	_, err = OpenCorpus("godoc:mine")
	wantError(t, err, "godoc:std")
}

// Whoever opens a pipe waits for somebody to write to it.
func TestPipesAreRefused(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.fbin"} {
		path := filepath.Join(t.TempDir(), name)
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no pipe can be made: %v", err)
		}
		var err error
		if name == "a.jsonl" {
			_, err = OpenCorpus(path)
		} else {
			_, err = OpenVectors(path)
		}
		wantError(t, err, path, "not a regular file")
	}
}

func TestFingerprintFollowsContent(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "{}")
	write(filepath.Join(dir, "a.md"), "# A")
	for _, name := range []string{file, dir} {
		c, err := OpenCorpus(name)
		if err != nil {
			t.Fatal(err)
		}
		first, err := c.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := c.Fingerprint(); again != first || c.Name() != name {
			t.Errorf("%s: fingerprint changes by itself", name)
		}
		if name == dir {
			write(filepath.Join(dir, "b.md"), "# B")
		} else {
			write(file, "{ }")
		}
		if changed, err := c.Fingerprint(); err != nil || changed == first {
			t.Errorf("%s: fingerprint does not follow a change (%v)", name, err)
		}
	}
}

func TestRealCorpora(t *testing.T) {
	for name, want := range map[string]int{"adi": 82, "cranfield": 1400, "med": 1033, "xquad-en": 240, "xquad-de": 240, "xquad-zh": 240} {
		c, err := OpenCorpus(testdata.Path(t, name+"/corpus.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readAll(t, c)); got != want {
			t.Errorf("%s: %d documents, want %d", name, got, want)
		}
	}
}

func TestBadCorpora(t *testing.T) {
	c, err := OpenCorpus(testdata.Path(t, "bad/lfs_pointers/corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Documents(context.Background()) {
		wantError(t, err, "bad/lfs_pointers/corpus.jsonl", "git lfs pull")
	}
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "bad/json"), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = documentsOf(string(raw))
		wantError(t, err, "corpus.jsonl")
		if strings.HasPrefix(filepath.Base(file), "y_") && strings.Contains(err.Error(), "not JSON") {
			t.Errorf("%s is JSON, but: %v", file, err)
		}
	}
}

func TestDocumentsStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(`{"_id": "a", "text": ""}`+"\n"+`{"_id": "b", "text": ""}`+"\nbroken"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := OpenCorpus(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Documents(context.Background()) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range c.Documents(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
}

func BenchmarkJSONL(b *testing.B) {
	path := testdata.Path(b, "cranfield/corpus.jsonl")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	c, err := OpenCorpus(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		n := 0
		for _, err := range c.Documents(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1400 {
			b.Fatalf("%d documents", n)
		}
	}
}
