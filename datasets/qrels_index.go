package datasets

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// QrelsFormat is how the lines of a file of judgements are cut.
type QrelsFormat int

// The formats. The three-column one has neither BEIR's tabs nor TREC's iteration; it is never guessed, since such a line
// may as well be one of TREC's that lost a column.
const (
	QrelsAuto         QrelsFormat = iota // BEIR or TREC, told apart by the first line
	QrelsTREC                            // query, iteration, document, grade, separated by white space
	QrelsBEIR                            // query, document, grade, separated by tabs
	QrelsThreeColumns                    // query, document, grade, separated by white space
)

// qrelsFormatNames are what users write, indexed by format.
var qrelsFormatNames = [...]string{"auto", "trec", "beir", "three-columns"}

// QrelsFormatNames are the names that ParseQrelsFormat knows.
func QrelsFormatNames() []string { return slices.Clone(qrelsFormatNames[:]) }

// ParseQrelsFormat is the format of a name.
func ParseQrelsFormat(name string) (QrelsFormat, error) {
	if i := slices.Index(qrelsFormatNames[:], name); i >= 0 {
		return QrelsFormat(i), nil
	}
	return 0, fmt.Errorf("unknown format of judgements %q; the formats are %s", name, strings.Join(qrelsFormatNames[:], ", "))
}

// Judgement is the grade of one document for one query. Below 1 it is not relevant; below 0 it was not judged at all,
// as in trec_eval.
type Judgement struct {
	Document string
	Grade    int
}

// Qrels are relevance judgements by query.
type Qrels struct {
	File    string
	queries []string
	index   map[string][]Judgement
}

// ReadQrels reads judgements from r; name is used in errors. Lines that are blank or begin with # are skipped; a repeated
// judgement counts once, and one that contradicts another is an error. All faults are reported together, up to 20; each is
// an *Error.
func ReadQrels(name string, r io.Reader, format QrelsFormat) (*Qrels, error) {
	var faults problems
	all, err := readQrels(name, r, format, &faults)
	if err == nil {
		err = faults.err()
	}
	if err != nil {
		return nil, err
	}
	q := &Qrels{File: name, index: map[string][]Judgement{}}
	for start := 0; start < len(all); {
		query, end := all[start].query, start
		for end < len(all) && all[end].query == query {
			end++
		}
		judged, known := q.index[query]
		judged = slices.Grow(judged, end-start)
		for _, j := range all[start:end] {
			judged = append(judged, Judgement{j.document, j.grade})
		}
		if !known {
			q.queries = append(q.queries, query)
		}
		q.index[query] = judged
		start = end
	}
	return q, nil
}

// Queries are the ids of all queries that have judgements, in the order of the file. They must not be changed.
func (q *Qrels) Queries() []string { return q.queries }

// Judgements are those of a query, in the order of the file; none if it has none. They must not be changed.
func (q *Qrels) Judgements(query string) []Judgement { return q.index[query] }
