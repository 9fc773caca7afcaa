package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ReadGolden reads questions with what is known about their answers.
//
// Without qrels, queries is a golden set: JSON Lines, or CSV with a header, with "id", "query" and "gold_evidence" and
// the optional fields of the user guide. Names that other tools write are understood: "_id" for "id"; "question" or
// "text" for "query"; "reference_answer" for "acceptable_answer"; and, as whole documents of relevance 1,
// "expected_document_ids", "expected_source" and "expected_chunk_id" (for a corpus whose documents are chunks; it wins
// over "expected_source"). A whole document counts only where no gold_evidence names it. Every case has either
// evidence of relevance 1 or more, or "answerability": "unanswerable" and none.
//
// With qrels, queries gives only questions (BEIR's queries.jsonl, or a file as above without evidence), and qrels is
// BEIR's tab-separated file of three columns or a TREC file of four. A question without any judgement stays in Cases,
// with no evidence, and a warning counts them: a benchmark's queries usually hold all splits, its qrels one. Judgements
// of questions that queries lacks are counted in a warning too, unless none of them is known. Ids that differ only by
// leading zeros are an error, never a silent miss.
//
// All faults of one file are reported together, up to 20; each is an *Error.
func ReadGolden(queries, qrels string) (*Golden, error) {
	g, faults, err := readGolden(queries, qrels, false)
	if err == nil {
		err = errors.Join(faults...)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// CheckGolden is ReadGolden for those who want to know all that is wrong: it leaves out what cannot be read, and gives
// what can together with the faults, up to 1000 of each file, in file order. The error is for a file of which nothing can
// be read.
func CheckGolden(queries, qrels string) (g *Golden, faults []error, err error) {
	return readGolden(queries, qrels, true)
}

// readGolden goes on behind faults only if it is to check.
func readGolden(queries, qrels string, check bool) (*Golden, []error, error) {
	most := maxProblems
	if check {
		most = keptFaults
	}
	f, err := os.Open(queries)
	if err != nil {
		return nil, nil, &Error{File: queries, Msg: "cannot open the queries", Err: err}
	}
	defer f.Close()
	set, err := gatherCases(queries, f, qrels != "", most)
	if err != nil {
		return nil, nil, err
	}
	faults := set.faults.list()
	if len(set.golden.Cases) == 0 {
		return nil, nil, errors.Join(faults...)
	}
	if qrels == "" || len(faults) > 0 && !check {
		return set.golden, faults, nil
	}
	q, err := os.Open(qrels)
	if err != nil {
		return nil, nil, &Error{File: qrels, Msg: "cannot open the judgements", Err: err}
	}
	defer q.Close()
	judged := problems{most: most}
	judgements, err := readQrels(qrels, q, QrelsAuto, &judged)
	if err != nil {
		return nil, nil, err
	}
	set.golden.judge(qrels, judgements, &judged)
	return set.golden, append(faults, judged.list()...), nil
}

// gatherCases reads the cases of r and keeps up to most faults beside them. External says that their judgements are in
// another file. A set has a case or a fault.
func gatherCases(file string, r io.Reader, external bool, most int) (*caseSet, error) {
	lines, err := newLineReader(file, r)
	if err != nil {
		return nil, err
	}
	line, err := firstLine(lines)
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Msg: "the file holds no questions", Hint: "write one case a line: {\"id\": ..., \"query\": ..., \"gold_evidence\": [...]}"}
	}
	if err != nil {
		return nil, err
	}
	set := &caseSet{golden: &Golden{Files: []string{file}, Judged: external}, external: external, lines: map[string]int{}, faults: problems{most: most}}
	if c := bytes.TrimSpace(line)[0]; c == '{' || c == '[' {
		err = set.readJSON(lines, line)
	} else {
		err = set.readCSV(lines, line)
	}
	if err != nil {
		set.faults.add(err)
	}
	if len(set.golden.Cases) == 0 && len(set.faults.errs) == 0 {
		return nil, &Error{File: file, Msg: "the file holds a header and no questions"}
	}
	return set, nil
}

// firstLine is the first line that is not blank.
func firstLine(lines *lineReader) ([]byte, error) {
	for {
		line, err := lines.read()
		if err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, err
		}
	}
}

// caseSet grows a golden set and its list of faults.
type caseSet struct {
	golden   *Golden
	external bool
	lines    map[string]int // id of a case to its line
	faults   problems
}

func (s *caseSet) readJSON(lines *lineReader, line []byte) error {
	for {
		if len(bytes.TrimSpace(line)) > 0 {
			o, err := parseObject(lines, line)
			if err != nil {
				return err // what follows is likely to be broken too
			}
			if len(s.golden.Cases) == 0 && len(s.faults.errs) == 0 && !s.external && isBEIRQuery(o) {
				return o.fault("", "these are questions without judgements, as in BEIR", "name the file of judgements too (qrels)")
			}
			s.add(o)
		}
		var err error
		line, err = lines.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isBEIRQuery says whether a case has nothing but an id, a text and metadata.
func isBEIRQuery(o *object) bool {
	for key := range o.members {
		if key != "_id" && key != "text" && key != "metadata" {
			return false
		}
	}
	return o.has("_id") && o.has("text")
}

// add parses a case and keeps it or its fault.
func (s *caseSet) add(o *object) {
	c, err := parseCase(o, s.external)
	if err != nil {
		s.faults.add(err)
		return
	}
	if line := s.lines[c.ID]; line > 0 {
		s.faults.add(o.fault(o.first("id", "_id", "case_id"), fmt.Sprintf("the id %q was used on line %d", c.ID, line), "every case needs an id of its own"))
		return
	}
	s.lines[c.ID] = c.Line
	s.golden.Cases = append(s.golden.Cases, c)
}

// judge gives each case the judgements of its id.
func (g *Golden) judge(file string, judgements []judgement, faults *problems) {
	index := make(map[string]int, len(g.Cases))
	bare := make(map[string]string, len(g.Cases)) // id without leading zeros to id
	for i, c := range g.Cases {
		index[c.ID] = i
		bare[withoutZeros(c.ID)] = c.ID
	}
	unknown := map[string]bool{}
	var first judgement // the first of an unknown question
	for _, j := range judgements {
		i, ok := index[j.query]
		if ok {
			c := &g.Cases[i]
			if c.Unanswerable && j.grade > 0 {
				faults.add(&Error{File: file, Line: j.line, Msg: fmt.Sprintf("case %q is unanswerable (%s:%d) and yet document %q is relevant", j.query, c.File, c.Line, j.document)})
				continue
			}
			c.Evidence = append(c.Evidence, Evidence{DocumentID: j.document, Relevance: j.grade, Line: j.line})
			continue
		}
		if unknown[j.query] {
			continue
		}
		if len(unknown) == 0 {
			first = j
		}
		unknown[j.query] = true
		if near, ok := bare[withoutZeros(j.query)]; ok {
			faults.add(&Error{
				File: file, Line: j.line, Msg: fmt.Sprintf("query id %q is %q in %s: leading zeros on one side only", j.query, near, g.Files[0]),
				Hint: "write the ids alike in both files",
			})
		}
	}
	g.Files = append(g.Files, file)
	if len(faults.errs) > 0 {
		return // and what else is odd may follow from these
	}
	if len(unknown) > 0 && !g.anyEvidence() {
		faults.add(&Error{
			File: file, Line: first.line, Msg: fmt.Sprintf("none of its %d query ids is in %s: the first is %q, there it is %q", len(unknown), g.Files[0], first.query, g.Cases[0].ID),
			Hint: "give the queries that these judgements were made for",
		})
		return
	}
	if len(unknown) > 0 {
		g.Warnings = append(g.Warnings, fmt.Sprintf("%s judges %d questions that %s does not have (the first is %q, line %d): they are left out",
			file, len(unknown), g.Files[0], first.query, first.line))
	}
	var unjudged, barren []string
	for _, c := range g.Cases {
		switch {
		case c.Unanswerable:
		case len(c.Evidence) == 0:
			unjudged = append(unjudged, c.ID)
		case !c.relevant():
			barren = append(barren, c.ID)
		}
	}
	if len(unjudged) > 0 {
		g.Warnings = append(g.Warnings, fmt.Sprintf("%d of %d questions in %s have no judgement in %s (the first is %q): nothing can be said about their answers",
			len(unjudged), len(g.Cases), g.Files[0], file, unjudged[0]))
	}
	if len(barren) > 0 {
		g.Warnings = append(g.Warnings, fmt.Sprintf("%d of %d questions in %s have judgements in %s of which none is relevant (the first is %q): no answer can be right",
			len(barren), len(g.Cases), g.Files[0], file, barren[0]))
	}
}

// relevant says whether any of the evidence has a grade of 1 or more.
func (c *Case) relevant() bool {
	return slices.ContainsFunc(c.Evidence, func(e Evidence) bool { return e.Relevance > 0 })
}

func (g *Golden) anyEvidence() bool {
	for _, c := range g.Cases {
		if len(c.Evidence) > 0 {
			return true
		}
	}
	return false
}

// withoutZeros drops leading zeros of a number, so that "01" and "1" are alike.
func withoutZeros(id string) string {
	if bare := strings.TrimLeft(id, "0"); bare != "" {
		return bare
	}
	return id[:min(len(id), 1)]
}
