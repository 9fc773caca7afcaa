package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// Trace is what a system answered to one case.
type Trace struct {
	Case      string
	Config    string      // which of its configurations answered; "" if it does not say
	Index     string      // version of its index; "" if it does not say
	Retrieved []Retrieved // best first
	Seconds   float64     // latency; NaN if it does not say
	Failed    string      // the error that it ended in; "" if it did not
	Line      int
}

// Retrieved is one result: a whole document or a span of it.
type Retrieved struct {
	Document   string
	Start, End int // code points, end exclusive; HasSpan says whether they count
	HasSpan    bool
	Score      float32 // larger is better
}

// ReadTraces reads the answers of another system from JSON Lines, one object a case and configuration:
//
//	{"case_id": ..., "config_id": ..., "index_version": ..., "latency_ms": ..., "error": ...,
//	 "retrieved": [{"document_id": ..., "start": ..., "end": ..., "rank": ..., "score": ...}, ...]}
//
// Only case_id and retrieved are needed. A chunk_id stands for a document_id where the documents of the corpus are the
// chunks, or, as "document#start-end", for document and span. Results are in order of rank, where they have one, else as
// they stand; without scores, one over the rank serves as the score. The same case twice for a configuration, the same
// result twice in an answer and ranks that are not 1, 2, 3, ... are errors. Every fault is an *Error; the first ends the
// reading.
func ReadTraces(ctx context.Context, path string) (traces []Trace, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: path, Msg: "cannot open the traces", Err: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readTraces(ctx, path, f)
}

func readTraces(ctx context.Context, path string, r io.Reader) ([]Trace, error) {
	lines, err := newLineReader(path, r)
	if err != nil {
		return nil, err
	}
	var all []Trace
	seen := map[[2]string]int{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		o, err := parseObject(lines, line)
		if err != nil {
			return nil, err
		}
		t, err := parseTrace(o)
		if err != nil {
			return nil, err
		}
		key := [2]string{t.Config, t.Case}
		if before := seen[key]; before > 0 {
			return nil, o.fault("case_id", fmt.Sprintf("case %q of configuration %q was answered on line %d", t.Case, t.Config, before), "give each configuration one answer a case, or a config_id of its own")
		}
		seen[key] = lines.number
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, &Error{File: path, Msg: "there are no traces", Hint: `write one object a case: {"case_id": ..., "retrieved": [...]}`}
	}
	return all, nil
}

func parseTrace(o *object) (Trace, error) {
	t := Trace{Line: o.lines.number, Seconds: math.NaN()}
	read := caseReader{o: o}
	t.Case, t.Config, t.Index, t.Failed = read.scalar("case_id"), read.scalar("config_id"), read.scalar("index_version"), read.scalar("error")
	if read.err != nil {
		return t, read.err
	}
	if t.Case == "" {
		return t, o.fault("case_id", "the trace has no \"case_id\"", "name the case of the golden set that was asked")
	}
	if o.has("latency_ms") {
		ms, ok := number(o.members["latency_ms"])
		if !ok || ms < 0 || ms > maxTraceMilliseconds {
			return t, o.fault("latency_ms", fmt.Sprintf("latency_ms is %.60s", o.members["latency_ms"]), "it must be a number of milliseconds, 0 or more")
		}
		t.Seconds = ms / 1000
	}
	if !o.has("retrieved") {
		if t.Failed != "" {
			return t, nil
		}
		return t, o.fault("", fmt.Sprintf("case %q has no \"retrieved\"", t.Case), `an answer without results is written "retrieved": [], a failed one with "error"`)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(o.members["retrieved"], &items); err != nil {
		return t, o.fault("retrieved", fmt.Sprintf("case %q: retrieved must be a list of objects, not %s", t.Case, kindOf(o.members["retrieved"])), "")
	}
	var list []ranked
	for i, item := range items {
		one, msg, hint := parseRetrieved(item)
		if msg != "" {
			return t, o.fault("retrieved", fmt.Sprintf("case %q: retrieved[%d] %s", t.Case, i, msg), hint)
		}
		list = append(list, one)
	}
	var msg string
	if t.Retrieved, msg = inOrder(list); msg != "" {
		return t, o.fault("retrieved", fmt.Sprintf("case %q: %s", t.Case, msg), "")
	}
	return t, nil
}

// maxTraceMilliseconds is a month: what takes longer is not in milliseconds.
const maxTraceMilliseconds = 31 * 24 * 3600 * 1000

// ranked is a result as it was read.
type ranked struct {
	Retrieved
	rank     int // 0 if it has none
	hasScore bool
}

// parseRetrieved reads one result; msg is what is wrong with it, or "".
func parseRetrieved(item json.RawMessage) (r ranked, msg, hint string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(item, &members); err != nil || members == nil {
		return r, "must be an object, not " + kindOf(item), `write {"document_id": ..., "start": ..., "end": ...}`
	}
	text := func(key string) string {
		s, _ := scalarText(members[key])
		return s
	}
	has := func(key string) bool { raw, ok := members[key]; return ok && string(raw) != "null" }
	r.Document = text("document_id")
	if chunk := text("chunk_id"); r.Document == "" && chunk != "" {
		r.Document = chunk
		if at := strings.LastIndex(chunk, "#"); at > 0 && !has("start") && !has("end") {
			var start, end int
			if n, err := fmt.Sscanf(chunk[at+1:], "%d-%d", &start, &end); n == 2 && err == nil && fmt.Sprintf("%d-%d", start, end) == chunk[at+1:] {
				r.Document, r.Start, r.End, r.HasSpan = chunk[:at], start, end, true
			}
		}
	}
	if r.Document == "" {
		return r, "has no document_id and no chunk_id", "name what was found"
	}
	if has("start") != has("end") {
		return r, "has only one of start and end", "give both, or neither"
	}
	if has("start") {
		var ok1, ok2 bool
		r.Start, ok1 = wholeNumber(members["start"])
		r.End, ok2 = wholeNumber(members["end"])
		if r.HasSpan = true; !ok1 || !ok2 {
			return r, "has a start or end that is no whole number", "offsets count code points of the document's text"
		}
	}
	if r.HasSpan && (r.Start < 0 || r.Start >= r.End || r.End > math.MaxInt32) {
		return r, fmt.Sprintf("is the span [%d, %d)", r.Start, r.End), "offsets are code points from 0, end exclusive and greater than start"
	}
	if has("rank") {
		var ok bool
		if r.rank, ok = wholeNumber(members["rank"]); !ok || r.rank < 1 {
			return r, fmt.Sprintf("has the rank %.60s", members["rank"]), "ranks are 1, 2, 3, ..."
		}
	}
	if has("score") {
		v, ok := number(members["score"])
		if r.Score, r.hasScore = float32(v), true; !ok || math.IsInf(float64(r.Score), 0) {
			return r, fmt.Sprintf("has the score %.60s", members["score"]), "a score is a finite number, larger is better"
		}
	}
	return r, "", ""
}

func number(raw json.RawMessage) (float64, bool) {
	var v float64
	err := json.Unmarshal(raw, &v)
	return v, err == nil
}

// inOrder sorts results by rank and checks that ranks and places are each there once; msg is what is wrong, or "".
func inOrder(list []ranked) (out []Retrieved, msg string) {
	with, scores := 0, 0
	for _, r := range list {
		if r.rank > 0 {
			with++
		}
		if r.hasScore {
			scores++
		}
	}
	switch {
	case with != 0 && with != len(list):
		return nil, fmt.Sprintf("%d of %d results have a rank; give all one, or none", with, len(list))
	case scores != 0 && scores != len(list):
		return nil, fmt.Sprintf("%d of %d results have a score; give all one, or none", scores, len(list))
	}
	if with > 0 {
		slices.SortStableFunc(list, func(a, b ranked) int { return a.rank - b.rank })
	}
	seen := map[Retrieved]bool{}
	for i, r := range list {
		if with > 0 && r.rank != i+1 {
			return nil, fmt.Sprintf("the ranks are not 1 to %d, each once: there is a %d in place of %d", len(list), r.rank, i+1)
		}
		at := r.Retrieved
		if at.Score = 0; seen[at] {
			return nil, fmt.Sprintf("document %q is there twice with the same span", r.Document)
		}
		seen[at] = true
		if scores == 0 {
			r.Score = 1 / float32(i+1)
		}
		out = append(out, r.Retrieved)
	}
	return out, ""
}
