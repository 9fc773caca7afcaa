package datasets

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"frontier/internal/testdata"
)

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFolder(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"z.txt":            "plain # not a heading",
		"a/b.md":           "\ufeff# Début\r\ntext\r\n",
		"a-b.MD":           "no heading",
		"a/notes.html":     "left out",
		".git/HEAD.txt":    "left out",
		"a/.hidden.md":     "left out",
		"empty.markdown":   "",
		"sub/deep/er/c.md": "Title\n=====\n",
	})
	if err := os.Symlink(dir, filepath.Join(dir, "loop.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "z.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	c, err := OpenCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := readAll(t, c)
	want := []struct{ id, title, text string }{
		{"a-b.MD", "", "no heading"},
		{"a/b.md", "Début", "# Début\r\ntext\r\n"},
		{"empty.markdown", "", ""},
		{"link.txt", "", "plain # not a heading"},
		{"sub/deep/er/c.md", "Title", "Title\n=====\n"},
		{"z.txt", "", "plain # not a heading"},
	}
	if len(all) != len(want) {
		t.Fatalf("%d documents, want %d: %+v", len(all), len(want), all)
	}
	for i, w := range want {
		if d := all[i]; d.ID != w.id || d.Title != w.title || d.Text != w.text {
			t.Errorf("document %d is %+v, want %+v", i, d, w)
		}
	}
	if s := all[1].Sections; len(s) != 1 || s[0] != (Section{"début", 0, 15}) {
		t.Errorf("sections are %+v", s)
	}
	// The folder itself may be a link.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	linked, err := OpenCorpus(link)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, linked); !reflect.DeepEqual(got, all) {
		t.Errorf("through a link it has %+v", got)
	}
	if _, err := linked.Fingerprint(); err != nil {
		t.Error(err)
	}
}

func TestFolderNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "caf\xe9.md"), nil, 0o600); err != nil {
		t.Skipf("the file system takes no such name: %v", err)
	}
	corpus, err := OpenCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range corpus.Documents(t.Context()) {
		wantError(t, err, dir, `the name of "caf\xe9.md" is not UTF-8`, "rename")
	}
}

func TestFolderFaults(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		parts []string
	}{
		"no files":      {nil, []string{"the corpus is empty"}},
		"other files":   {map[string]string{"a.html": "x", ".b.md": "x"}, []string{"the corpus is empty"}},
		"invalid UTF-8": {map[string]string{"a.md": "ok\nfünf caf\xe9"}, []string{"a.md:2:9:", "0xe9", "byte offset 12"}},
		"UTF-16":        {map[string]string{"a.txt": "\xfe\xff\x00a"}, []string{"a.txt", "UTF-16"}},
		"LFS":           {map[string]string{"a.md": "version https://git-lfs.github.com/spec/v1\n"}, []string{"a.md", "git lfs pull"}},
	} {
		t.Run(name, func(t *testing.T) {
			corpus, err := OpenCorpus(writeFiles(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			failed := false
			for _, err := range corpus.Documents(t.Context()) {
				if err != nil {
					failed = true
					wantError(t, err, c.parts...)
				}
			}
			if !failed {
				t.Error("no error")
			}
		})
	}
}

func TestBadTexts(t *testing.T) {
	c, err := OpenCorpus(testdata.Path(t, "bad/text"))
	if err != nil {
		t.Fatal(err)
	}
	all := readAll(t, c)
	if len(all) != 2 {
		t.Fatalf("%d documents", len(all))
	}
	readme := all[1]
	if readme.Text[:1] != "[" {
		t.Errorf("the byte order mark is still there: %q", readme.Text[:4])
	}
	if readme.Title != "@sap-ux/fiori-docs-embeddings" {
		t.Errorf("title is %q", readme.Title)
	}
	if got := sectionText(t, readme, "license"); got[:len("## License")] != "## License" {
		t.Errorf("section is %q", got)
	}
	for _, s := range readme.Sections {
		if s.ID == "install-dependencies" {
			t.Error("a comment in a code block is a section")
		}
	}
}
