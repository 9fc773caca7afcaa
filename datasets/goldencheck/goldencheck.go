// Package goldencheck says what a golden set can show and what is wrong with it, before anything is measured on it.
package goldencheck

import (
	"context"
	"errors"
	"fmt"

	"frontier/bench/spans"
	"frontier/chunkers"
	"frontier/datasets"
)

// Chunking is one way of cutting that a sweep will try.
type Chunking struct {
	Name    string
	Chunker chunkers.Chunker
}

// Options say what to check against.
type Options struct {
	Corpus       datasets.Corpus // nil: evidence is not looked for
	Chunkings    []Chunking      // need a Corpus
	Rule         spans.Rule      // when a chunk holds evidence
	RelevanceMin int             // smallest grade that is relevant; 0 means 1
	Confidence   float64         // of intervals; 0 means 0.95
}

// Severity tells what makes a set unusable from what is only worth knowing.
type Severity string

// The severities.
const (
	Fault   Severity = "fault"   // figures measured on the set would be wrong, or a sweep would refuse it
	Warning Severity = "warning" // the set is usable, and could be better
)

// The kinds of finding.
const (
	KindUnreadable    = "unreadable"     // a case that breaks the rules of the format, which includes repeated ids and answerable cases without evidence
	KindEvidence      = "evidence"       // evidence that the corpus does not have
	KindConflict      = "conflict"       // the same question with different gold
	KindSplit         = "split"          // a document that two splits share
	KindDuplicate     = "duplicate"      // the same question with the same gold
	KindNearDuplicate = "near_duplicate" // two questions that are nearly the same
	KindUnholdable    = "unholdable"     // evidence that no chunk of any chunking holds
	KindConcentration = "concentration"  // a document that many questions are about
	KindSize          = "size"           // too few cases
	KindReading       = "reading"        // what the reader of the files remarks
)

// Finding is one thing about a set that its owner should know.
type Finding struct {
	Severity Severity `json:"severity"`
	Kind     string   `json:"kind"`
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1; 0 if it is about the whole file
	Column   int      `json:"column"` // from 1; 0 if unknown
	Case     string   `json:"case"`   // its id, where it is about one
	Message  string   `json:"message"`
	Hint     string   `json:"hint"` // what to do
}

// Report is what is known of a golden set.
type Report struct {
	Files          []string  `json:"files"`
	Cases          int       `json:"cases"`
	Answerable     int       `json:"answerable"`   // with evidence of a grade that is relevant
	Unanswerable   int       `json:"unanswerable"` // a denominator of their own
	Unjudged       int       `json:"unjudged"`     // neither: without any relevant judgement
	Usable         bool      `json:"usable"`       // there is no fault
	Confidence     float64   `json:"confidence"`
	SmallestChange int       `json:"smallest_change"` // cases that must change, all in one direction, to be told from chance
	Slices         []Slice   `json:"slices"`
	Chunkings      []Held    `json:"chunkings"`
	Findings       []Finding `json:"findings"` // faults first, then by place
}

// Check reads a golden set, and its judgements if qrels is not "", and reports on it. The error is for files that cannot
// be read at all, for a corpus that cannot be read, and for options that cannot be: what is wrong with the set is in the
// report.
func Check(ctx context.Context, queries, qrels string, o Options) (*Report, error) {
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.RelevanceMin == 0 {
		o.RelevanceMin = 1
	}
	switch {
	case !(o.Confidence > 0 && o.Confidence < 1):
		return nil, fmt.Errorf("checking a golden set: the confidence is %v; it must be between 0 and 1", o.Confidence)
	case o.RelevanceMin < 0:
		return nil, fmt.Errorf("checking a golden set: the smallest relevant grade is %d; use 1 or more", o.RelevanceMin)
	case len(o.Chunkings) > 0 && o.Corpus == nil:
		return nil, errors.New("checking a golden set: to see which evidence chunks hold, a corpus is needed")
	}
	golden, faults, err := datasets.CheckGolden(queries, qrels)
	if err != nil {
		return nil, err
	}
	c := &checker{golden: golden, o: o, report: &Report{
		Files: golden.Files, Cases: len(golden.Cases), Confidence: o.Confidence,
		Chunkings: []Held{}, Findings: []Finding{}, // lists in JSON too, where there are none
	}}
	c.faults(KindUnreadable, faults)
	for _, w := range golden.Warnings {
		c.find(Finding{Severity: Warning, Kind: KindReading, File: golden.Files[0], Message: w})
	}
	c.slices()
	if err := c.questions(ctx); err != nil {
		return nil, err
	}
	c.splits()
	c.concentration()
	if o.Corpus != nil {
		if err := c.corpus(ctx); err != nil {
			return nil, err
		}
	}
	c.report.finish()
	return c.report, nil
}

// checker gathers a report.
type checker struct {
	golden *datasets.Golden
	o      Options
	report *Report
}

func (c *checker) find(f Finding) { c.report.Findings = append(c.report.Findings, f) }

// about is a finding about a case.
func (c *checker) about(i int, severity Severity, kind, message, hint string) {
	k := c.golden.Cases[i]
	c.find(Finding{Severity: severity, Kind: kind, File: k.File, Line: k.Line, Case: k.ID, Message: message, Hint: hint})
}

// faults takes over what the readers found.
func (c *checker) faults(kind string, all []error) {
	for _, err := range all {
		f := Finding{Severity: Fault, Kind: kind, File: c.golden.Files[0], Message: err.Error()}
		var at *datasets.Error
		if errors.As(err, &at) {
			f.File, f.Line, f.Column, f.Message, f.Hint = at.File, at.Line, at.Column, at.Msg, at.Hint
			if at.Err != nil {
				f.Message += ": " + at.Err.Error()
			}
		}
		c.find(f)
	}
}

// answerable says whether a case has evidence that is relevant.
func (c *checker) answerable(i int) bool {
	for _, e := range c.golden.Cases[i].Evidence {
		if e.Relevance >= c.o.RelevanceMin {
			return true
		}
	}
	return false
}
