package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// judgement is one line of a qrels file.
type judgement struct {
	query, document string
	grade           int // below 1 is judged and not relevant
	line            int
}

// readQrels reads BEIR's tab-separated judgements, with or without their header, or TREC's. Lines that begin with # are
// comments. A repeated judgement counts once; one that contradicts another is a fault. The error is for a file of which
// nothing can be read.
func readQrels(file string, r io.Reader, format QrelsFormat, faults *problems) ([]judgement, error) {
	lines, err := newLineReader(file, r)
	if err != nil {
		return nil, err
	}
	var (
		all    []judgement
		layout = format
		data   = 0 // lines that are not comments
	)
	for {
		line, err := lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if firstField(line) == nil {
			continue
		}
		if data++; data == 1 {
			text := string(line)
			if layout == QrelsAuto {
				if layout, err = qrelsLayoutOf(lines, text); err != nil {
					return nil, err
				}
			}
			if isQrelsHeader(text) {
				continue
			}
		}
		var query string // of the line before, which is usually that of this line
		if len(all) > 0 {
			query = all[len(all)-1].query
		}
		j, err := parseJudgement(lines, layout, line, query)
		if err != nil {
			if len(all) == 0 && len(faults.errs) == 0 {
				return nil, err // the file is of another kind, and every line would say so
			}
			faults.add(err)
			continue
		}
		all = append(all, j)
	}
	all = withoutRepeats(file, all, faults)
	if len(all) == 0 {
		if err := faults.err(); err != nil {
			return nil, err
		}
		return nil, &Error{File: file, Msg: "the file holds no judgements", Hint: qrelsHint}
	}
	if layout == QrelsTREC && data > 1 && !slices.ContainsFunc(all, func(j judgement) bool { return j.document != "0" }) {
		return nil, &Error{
			File: file, Line: all[0].line, Msg: "every judgement is of document \"0\": the columns look like SMART's (query, document, 0, 0)",
			Hint: "rewrite the lines as: query 0 document 1",
		}
	}
	return all, nil
}

const qrelsHint = "use BEIR's three columns separated by tabs (query-id, corpus-id, score) or TREC's four (query, iteration, document, grade)"

// qrelsLayoutOf tells the layouts apart by the first line.
func qrelsLayoutOf(lines *lineReader, line string) (QrelsFormat, error) {
	fields, cells := strings.Fields(line), strings.Split(line, "\t")
	whole := !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == "" })
	switch {
	case len(cells) == 3 && whole: // even where a blank in an id makes four fields of them
		return QrelsBEIR, nil
	case len(fields) == 4:
		return QrelsTREC, nil
	case len(cells) == 3:
		return QrelsBEIR, nil
	case len(fields) == 3:
		return 0, lines.fault(0, "three columns that are not separated by tabs: the iteration column of TREC is missing, or the tabs of BEIR", qrelsHint)
	}
	if strings.Contains(line, "\r") {
		return 0, lines.fault(0, "carriage returns inside the line, as in files with old Macintosh line endings", "convert the line endings to \\n")
	}
	return 0, lines.fault(0, fmt.Sprintf("%d columns: %.80q", len(fields), line), qrelsHint)
}

// isQrelsHeader says whether a line names columns. It looks at the names, so that a first judgement with a broken grade
// is not taken for a header.
func isQrelsHeader(line string) bool {
	fields := strings.Fields(strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(line)))
	return len(fields) > 2 && slices.Contains([]string{"queryid", "qid", "query", "topic", "topicid"}, fields[0]) &&
		slices.Contains([]string{"score", "relevance", "relevancy", "rel", "grade", "label", "rating"}, fields[len(fields)-1])
}

// parseJudgement reads one line. If it is of the given query, that string is used again.
func parseJudgement(lines *lineReader, layout QrelsFormat, line []byte, query string) (judgement, error) {
	var cells [runColumns]field
	n, want := 0, 3
	switch layout {
	case QrelsTREC:
		n, want = cutFields(line, &cells), 4
	case QrelsThreeColumns:
		n = cutFields(line, &cells)
	default:
		n = cutCells(line, &cells)
	}
	if n != want {
		return judgement{}, lines.fault(0, fmt.Sprintf("%d columns in place of %d: %.80q", n, want, line), "is the line cut off? "+qrelsHint)
	}
	document, text := cells[want-2].of(line), cells[want-1].of(line)
	if cells[0].start == cells[0].end || len(document) == 0 {
		return judgement{}, lines.fault(0, "an empty id", qrelsHint)
	}
	grade, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil {
		hint := "a grade is a whole number; 0 is judged and not relevant"
		if bytes.ContainsAny(text, "Oo") {
			hint += " (is it the letter O in place of a zero?)"
		}
		return judgement{}, lines.fault(columnOf(line, cells[want-1].start), fmt.Sprintf("grade %q", text), hint)
	}
	if string(cells[0].of(line)) != query {
		query = string(cells[0].of(line))
	}
	return judgement{query: query, document: string(document), grade: int(grade), line: lines.number}, nil
}

// cutCells finds the cells of a line between tabs, without the blanks around each, and how many there are.
func cutCells(line []byte, cells *[runColumns]field) (n int) {
	for start := 0; ; n++ {
		end := len(line)
		if i := bytes.IndexByte(line[start:], '\t'); i >= 0 {
			end = start + i
		}
		if n < runColumns {
			cell := field{start, end}
			for cell.start < cell.end && isBlank(line[cell.start]) {
				cell.start++
			}
			for cell.start < cell.end && isBlank(line[cell.end-1]) {
				cell.end--
			}
			cells[n] = cell
		}
		if end == len(line) {
			return n + 1
		}
		start = end + 1
	}
}

// withoutRepeats drops judgements that are repeated, and reports those that contradict another.
func withoutRepeats(file string, all []judgement, faults *problems) []judgement {
	kept, query := all[:0], ""
	documents := map[string]int{} // of query, to index in kept
	var others map[string]map[string]int
	if !consecutive(all) {
		others = map[string]map[string]int{}
	}
	for i, j := range all {
		switch {
		case i > 0 && j.query == query:
		case others == nil:
			clear(documents) // one map for all queries stays small and near
		default:
			if documents = others[j.query]; documents == nil {
				documents = map[string]int{}
				others[j.query] = documents
			}
		}
		query = j.query
		i, repeated := documents[j.document]
		if !repeated {
			documents[j.document] = len(kept)
			kept = append(kept, j)
		} else if kept[i].grade != j.grade {
			faults.add(&Error{
				File: file, Line: j.line, Hint: "keep one of them",
				Msg: fmt.Sprintf("query %q, document %q has grade %d here and %d on line %d", j.query, j.document, j.grade, kept[i].grade, kept[i].line),
			})
		}
	}
	return kept
}

// consecutive says whether the judgements of each query follow one another.
func consecutive(all []judgement) bool {
	seen := map[string]bool{}
	for i, j := range all {
		if i > 0 && j.query == all[i-1].query {
			continue
		}
		if seen[j.query] {
			return false
		}
		seen[j.query] = true
	}
	return true
}
