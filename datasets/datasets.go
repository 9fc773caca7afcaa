// Package datasets reads what a sweep measures on: corpora of text, questions with judgements, and files of vectors.
// Everything streams or is mapped; a corpus need not fit in memory. Errors say file, line and, where there is one,
// column or byte offset, and what to do.
package datasets

import (
	"context"
	"iter"
)

// Document is one text of a corpus.
type Document struct {
	ID       string
	Title    string // a field of its own, never part of Text
	Text     string // valid UTF-8, as stored
	Sections []Section
	Fields   map[string]string // further scalar fields, for filters; nil if there are none
}

// Section is a named part of a document: a heading of Markdown, a symbol of a package, or as the corpus says.
type Section struct {
	ID         string
	Start, End int // code points of Document.Text, End exclusive
}

// Corpus yields its documents in a fixed order, as often as asked. Iteration stops at the first error.
type Corpus interface {
	// Documents streams the corpus. Ids are not empty and not repeated.
	Documents(ctx context.Context) iter.Seq2[Document, error]
	// Name is what the user wrote, for messages.
	Name() string
	// Fingerprint changes when the content may have changed, and is cheap: for files a hash over path, size and
	// modification time; for godoc:std the Go version. It decides whether the corpus must be read again; its digest
	// is taken over the content then.
	Fingerprint() (string, error)
}

// Case is one question with what is known about its answer.
type Case struct {
	ID           string
	Query        string
	Evidence     []Evidence
	Unanswerable bool
	Scenario     string
	Difficulty   string
	Split        string
	Tags         []string
	Facts        []string          // expected_facts
	Filter       map[string]string // what the caller may see
	Extra        map[string]string // further scalar fields, for slices
	File         string
	Line         int
}

// Evidence is one judged unit: a whole document, a section, a span or a literal text. Which of them applies is
// settled by Resolve, which turns each into spans.
type Evidence struct {
	DocumentID string
	SectionID  string // "" if the evidence is not a section
	Text       string // literal text; "" if none
	Start, End int    // code points; HasSpan says whether they count
	HasSpan    bool
	Relevance  int    // grade; 0 is judged and not relevant
	Group      string // evidence of one group are alternatives: any of them will do; "" for evidence that stands alone
	Line       int    // of the qrels file, or of the case
}

// Golden is a set of cases in file order.
type Golden struct {
	Cases  []Case
	Judged bool // judgements come from qrels, where a document without a judgement is unjudged rather than irrelevant
	Files  []string
	// Warnings say what was left out or looks wrong without being an error, each with its remedy.
	Warnings []string
}

// Span is a half-open range of code points of one document; Doc counts documents in corpus order from 0.
type Span struct {
	Doc        int
	Start, End int
}

// Unit is one piece of resolved evidence: it is found when any of its spans is. Whole says that it is a whole
// document, which any of its chunks holds.
type Unit struct {
	Spans []Span
	Grade int
	Whole bool
}

// VectorReader reads the rows of a vector file of any supported format as float32.
type VectorReader interface {
	Len() int
	Dim() int
	// Read fills dst, of Dim values, with row i. It checks for NaN and infinities, which are errors that name the row.
	Read(i int, dst []float32) error
	Close() error
}
