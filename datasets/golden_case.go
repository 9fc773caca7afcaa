package datasets

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontier/internal/param"
)

// caseKeys are the fields of a case that mean something here. Other scalars are kept for slices.
var caseKeys = []string{
	"id", "_id", "case_id", "query", "question", "gold_evidence", "expected_document_ids", "expected_source", "expected_chunk_id",
	"answerability", "scenario", "difficulty", "split", "tags", "expected_facts", "filter",
}

// queryKeys are the names of the question, by precedence.
var queryKeys = []string{"query", "question", "text"}

// parseCase reads one case. External says that its evidence is in a file of judgements.
func parseCase(o *object, external bool) (Case, error) {
	c := Case{File: o.lines.file, Line: o.lines.number}
	if err := o.unique(); err != nil {
		return c, err
	}
	idKey := o.first("id", "_id", "case_id")
	queryKey := o.first(queryKeys...)
	if idKey == "" {
		return c, o.fault("", "the case has no \"id\"", "give every case an id that stays the same when its wording changes")
	}
	if queryKey == "" {
		return c, o.fault("", "the case has no \"query\"", "write the question as \"query\"")
	}
	read := caseReader{o: o}
	c.ID = read.scalar(idKey)
	c.Query = read.str(queryKey)
	c.Scenario, c.Difficulty, c.Split = read.scalar("scenario"), read.scalar("difficulty"), read.scalar("split")
	c.Tags, c.Facts = read.strs("tags"), read.strs("expected_facts")
	c.Filter = read.filter()
	c.Unanswerable = read.unanswerable()
	if read.err != nil {
		return c, read.err
	}
	if c.ID == "" {
		return c, o.fault(idKey, "the id is empty", "")
	}
	if strings.TrimSpace(c.Query) == "" {
		return c, o.fault(queryKey, fmt.Sprintf("case %q: the query is empty", c.ID), "")
	}
	extra, err := parseExtra(o, idKey, queryKey)
	if err != nil {
		return c, err
	}
	c.Extra = extra
	evidenceKey := o.first("gold_evidence", "expected_document_ids", "expected_chunk_id", "expected_source")
	if external {
		if evidenceKey != "" {
			return c, o.fault(evidenceKey, fmt.Sprintf("case %q has evidence of its own, and a file of judgements (qrels) is given too", c.ID), "leave one of them out")
		}
		return c, nil
	}
	if c.Evidence, err = parseEvidence(o, c.ID); err != nil {
		return c, err
	}
	switch relevant := c.relevant(); {
	case c.Unanswerable && relevant:
		return c, o.fault(evidenceKey, fmt.Sprintf("case %q is unanswerable and yet has evidence", c.ID), "drop the evidence, or set answerability to \"answerable\"")
	case !c.Unanswerable && !relevant:
		return c, o.fault(evidenceKey, fmt.Sprintf("case %q has no evidence of relevance 1 or more", c.ID),
			"add gold_evidence, or set answerability to \"unanswerable\"")
	}
	return c, nil
}

// caseReader keeps the first fault, so that fields can be read one after the other.
type caseReader struct {
	o   *object
	err error
}

func (r *caseReader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *caseReader) str(key string) string {
	s, err := r.o.str(key)
	r.keep(err)
	return s
}

func (r *caseReader) scalar(key string) string {
	s, err := r.o.scalar(key)
	r.keep(err)
	return s
}

func (r *caseReader) strs(key string) []string {
	list, err := r.o.strs(key)
	r.keep(err)
	return list
}

func (r *caseReader) unanswerable() bool {
	switch s := r.scalar("answerability"); s {
	case "", "answerable":
		return false
	case "unanswerable":
		return true
	default:
		r.keep(r.o.fault("answerability", fmt.Sprintf("answerability is %q", s), "use \"answerable\" or \"unanswerable\""))
		return false
	}
}

func (r *caseReader) filter() map[string]string {
	if !r.o.has("filter") {
		return nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(r.o.members["filter"], &raw); err != nil {
		r.keep(r.o.fault("filter", "\"filter\" must be an object such as {\"tenant\": \"acme\"}, not "+kindOf(r.o.members["filter"]), ""))
		return nil
	}
	filter := make(map[string]string, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		s, ok := scalarText(raw[key])
		if !ok {
			r.keep(r.o.fault("filter", fmt.Sprintf("filter %q must be a string, number or boolean, not %s", key, kindOf(raw[key])), ""))
		}
		filter[key] = s
	}
	return filter
}

// nestedKeys are the fields whose values may be lists or objects.
var nestedKeys = []string{"gold_evidence", "expected_document_ids", "expected_source", "expected_chunk_id", "tags", "expected_facts", "filter"}

// parseExtra is the scalars that have no field of their own. A list or object that nothing reads is left out, unless
// its name looks like a misspelt one: then evidence would be lost in silence.
func parseExtra(o *object, idKey, queryKey string) (map[string]string, error) {
	var extra map[string]string
	for _, key := range slices.Sorted(maps.Keys(o.members)) {
		if key == idKey || key == queryKey || slices.Contains(caseKeys, key) && key != "expected_source" && key != "expected_chunk_id" {
			continue
		}
		s, ok := scalarText(o.members[key])
		if !ok {
			if near := param.Nearest(key, nestedKeys); near != "" && near != key && o.has(key) {
				return nil, o.fault(key, fmt.Sprintf("unknown field %q", key), fmt.Sprintf("did you mean %q?", near))
			}
			continue
		}
		if key == "reference_answer" && !o.has("acceptable_answer") {
			key = "acceptable_answer"
		}
		if extra == nil {
			extra = map[string]string{}
		}
		extra[key] = s
	}
	return extra, nil
}
