package datasets

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontier/internal/param"
)

var evidenceKeys = []string{"document_id", "section_id", "text", "start", "end", "relevance", "group"}

// parseEvidence is all evidence of the case id, each once.
func parseEvidence(o *object, id string) ([]Evidence, error) {
	var all []Evidence
	if o.has("gold_evidence") {
		var items []json.RawMessage
		if err := json.Unmarshal(o.members["gold_evidence"], &items); err != nil {
			return nil, o.fault("gold_evidence", fmt.Sprintf("case %q: gold_evidence must be a list of objects, not %s", id, kindOf(o.members["gold_evidence"])), "")
		}
		for i, item := range items {
			e, msg, hint := parseOneEvidence(item)
			if msg != "" {
				return nil, o.fault("gold_evidence", fmt.Sprintf("case %q: gold_evidence[%d] %s", id, i, msg), hint)
			}
			e.Line = o.lines.number
			if same := slices.IndexFunc(all, func(a Evidence) bool { a.Relevance = e.Relevance; return a == e }); same >= 0 {
				if all[same].Relevance != e.Relevance {
					return nil, o.fault("gold_evidence", fmt.Sprintf("case %q: gold_evidence[%d] is there already with relevance %d, not %d", id, i, all[same].Relevance, e.Relevance), "keep one of them")
				}
				continue
			}
			all = append(all, e)
		}
	}
	if msg := wrongGroup(all); msg != "" {
		return nil, o.fault("gold_evidence", fmt.Sprintf("case %q: %s", id, msg), "")
	}
	whole := []string{"expected_document_ids"}
	if key := o.first("expected_chunk_id", "expected_source"); key != "" {
		whole = append(whole, key)
	}
	for _, key := range whole {
		documents, err := o.strs(key)
		if err != nil {
			return nil, err
		}
		for _, document := range documents {
			if document == "" {
				return nil, o.fault(key, fmt.Sprintf("case %q: %s holds an empty id", id, key), "")
			}
			if !slices.ContainsFunc(all, func(e Evidence) bool { return e.DocumentID == document }) {
				all = append(all, Evidence{DocumentID: document, Relevance: 1, Line: o.lines.number})
			}
		}
	}
	return all, nil
}

// parseOneEvidence reads one object of gold_evidence; msg is what is wrong with it, or "". Unknown names are refused: a
// misspelt offset would turn a span into its whole document.
func parseOneEvidence(item json.RawMessage) (e Evidence, msg, hint string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(item, &members); err != nil || members == nil {
		return e, "must be an object, not " + kindOf(item), `write {"document_id": ..., "start": ..., "end": ...}`
	}
	e.Relevance = 1
	var hasStart, hasEnd, ok bool
	for _, key := range slices.Sorted(maps.Keys(members)) {
		raw := members[key]
		if string(raw) == "null" && slices.Contains(evidenceKeys, key) {
			continue
		}
		switch key {
		case "document_id":
			e.DocumentID, ok = scalarText(raw)
		case "section_id":
			e.SectionID, ok = scalarText(raw)
			ok = ok && e.SectionID != ""
		case "text":
			e.Text, ok = scalarText(raw)
			ok = ok && e.Text != "" && raw[0] == '"'
		case "start":
			e.Start, ok = wholeNumber(raw)
			hasStart, ok = true, ok && e.Start >= 0
		case "end":
			e.End, ok = wholeNumber(raw)
			hasEnd = true
		case "relevance":
			e.Relevance, ok = wholeNumber(raw)
		case "group":
			e.Group, ok = scalarText(raw)
			ok = ok && e.Group != ""
		default:
			hint = "known ones are " + strings.Join(evidenceKeys, ", ")
			if near := param.Nearest(key, evidenceKeys); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return e, fmt.Sprintf("has an unknown field %q", key), hint
		}
		if !ok {
			return e, fmt.Sprintf("has %q: %.60s", key, raw), evidenceHint(key)
		}
	}
	switch {
	case e.DocumentID == "":
		return e, "has no document_id", "name the document that holds the evidence"
	case hasStart != hasEnd:
		return e, "has only one of start and end", "give both, or neither"
	case hasStart && e.Start >= e.End:
		return e, fmt.Sprintf("is empty: [%d, %d)", e.Start, e.End), "end is exclusive and greater than start"
	}
	e.HasSpan = hasStart
	return e, "", ""
}

func evidenceHint(key string) string {
	switch key {
	case "start", "end":
		return "offsets are whole numbers of code points from 0"
	case "relevance":
		return "relevance is a whole number; 0 is judged and not relevant"
	}
	return "it must be a string that is not empty"
}
