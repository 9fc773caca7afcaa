package datasets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// GodocStd is the name of the corpus that every Go programmer has: the documentation of the standard library.
const GodocStd = "godoc:std"

// OpenCorpus opens the corpus called name: "godoc:std", a .jsonl file in BEIR's form, or a folder of .md and .txt
// files. It looks at the name and at what is there; the content is read by Documents. A corpus that cannot be opened
// is an *Error.
func OpenCorpus(name string) (Corpus, error) {
	if name == GodocStd {
		root, err := findGoroot()
		if err != nil {
			return nil, err
		}
		return &godocCorpus{root: root}, nil
	}
	if strings.HasPrefix(name, "godoc:") {
		return nil, &Error{Msg: "unknown built-in corpus \"" + name + "\"", Hint: "the only one is " + GodocStd}
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{
			File: name, Msg: "there is no such corpus",
			Hint: "give a .jsonl file, a folder of .md and .txt files, or " + GodocStd, Err: fs.ErrNotExist,
		}
	}
	if err != nil {
		return nil, &Error{File: name, Msg: "cannot open the corpus", Err: err}
	}
	if info.IsDir() {
		return &folderCorpus{root: name}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{File: name, Msg: "not a regular file", Hint: "a corpus is read more than once: write it to a file"}
	}
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".jsonl", ".ndjson":
		return &jsonlCorpus{path: name}, nil
	case ".md", ".markdown", ".txt":
		return nil, &Error{File: name, Msg: "a single text file is not a corpus", Hint: "give the folder that it is in"}
	default:
		return nil, &Error{
			File: name, Msg: "unknown type of corpus \"" + ext + "\"",
			Hint: "give a .jsonl file with one document a line ({\"_id\": ..., \"title\": ..., \"text\": ...}), a folder of .md and .txt files, or " + GodocStd,
		}
	}
}
