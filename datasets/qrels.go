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

// qrelsLayout is how the lines of one file are cut.
type qrelsLayout int

const (
	beirLayout qrelsLayout = iota // query, document, grade, separated by tabs
	trecLayout                    // query, iteration, document, grade, separated by white space
)

// readQrels reads BEIR's tab-separated judgements, with or without their header, or TREC's. Lines that begin with # are
// comments. A repeated judgement counts once; one that contradicts another is an error.
func readQrels(file string, r io.Reader) ([]judgement, error) {
	lines, err := newLineReader(file, r)
	if err != nil {
		return nil, err
	}
	var (
		all    []judgement
		faults problems
		layout qrelsLayout
		seen   = map[[2]string]int{} // query and document to index in all
		data   = 0                   // lines that are not comments
	)
	for {
		line, err := lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		text := string(line)
		if data++; data == 1 {
			if layout, err = qrelsLayoutOf(lines, text); err != nil {
				return nil, err
			}
			if isQrelsHeader(text) {
				continue
			}
		}
		j, err := parseJudgement(lines, layout, text)
		if err != nil {
			if len(all) == 0 && len(faults.errs) == 0 {
				return nil, err // the file is of another kind, and every line would say so
			}
			faults.add(err)
			continue
		}
		key := [2]string{j.query, j.document}
		if i, ok := seen[key]; !ok {
			seen[key] = len(all)
			all = append(all, j)
		} else if all[i].grade != j.grade {
			faults.add(lines.fault(0, fmt.Sprintf("query %q, document %q has grade %d here and %d on line %d", j.query, j.document, j.grade, all[i].grade, all[i].line), "keep one of them"))
		}
	}
	if err := faults.err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &Error{File: file, Msg: "the file holds no judgements", Hint: qrelsHint}
	}
	if layout == trecLayout && data > 1 && !slices.ContainsFunc(all, func(j judgement) bool { return j.document != "0" }) {
		return nil, &Error{
			File: file, Line: all[0].line, Msg: "every judgement is of document \"0\": the columns look like SMART's (query, document, 0, 0)",
			Hint: "rewrite the lines as: query 0 document 1",
		}
	}
	return all, nil
}

const qrelsHint = "use BEIR's three columns separated by tabs (query-id, corpus-id, score) or TREC's four (query, iteration, document, grade)"

// qrelsLayoutOf tells the layouts apart by the first line.
func qrelsLayoutOf(lines *lineReader, line string) (qrelsLayout, error) {
	fields, cells := strings.Fields(line), strings.Split(line, "\t")
	switch {
	case len(fields) == 4:
		return trecLayout, nil
	case len(cells) == 3:
		return beirLayout, nil
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

func parseJudgement(lines *lineReader, layout qrelsLayout, line string) (judgement, error) {
	var cells []string
	want := 3
	if layout == trecLayout {
		cells, want = strings.Fields(line), 4
	} else {
		cells = strings.Split(line, "\t")
	}
	if len(cells) != want {
		return judgement{}, lines.fault(0, fmt.Sprintf("%d columns where the first line has %d: %.80q", len(cells), want, line), "is the line cut off?")
	}
	j := judgement{query: strings.TrimSpace(cells[0]), document: strings.TrimSpace(cells[want-2]), line: lines.number}
	if j.query == "" || j.document == "" {
		return judgement{}, lines.fault(0, "an empty id", qrelsHint)
	}
	text := strings.TrimSpace(cells[want-1])
	grade, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		hint := "a grade is a whole number; 0 is judged and not relevant"
		if strings.ContainsAny(text, "Oo") {
			hint += " (is it the letter O in place of a zero?)"
		}
		return judgement{}, lines.fault(columnOf([]byte(line), strings.LastIndex(line, text)), fmt.Sprintf("grade %q", text), hint)
	}
	j.grade = int(grade)
	return j, nil
}
