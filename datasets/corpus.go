package datasets

import (
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
	return nil, &Error{File: name, Msg: "unknown corpus", Hint: "the only one is " + GodocStd}
}
