package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// jsonlCorpus is a file with one document a line: BEIR's _id (or id), title and text; optional sections; and any
// further scalars, at the top or in BEIR's metadata object, which become Fields. Where both name a field, the top wins.
type jsonlCorpus struct {
	path string
}

func (c *jsonlCorpus) Name() string { return c.path }

func (c *jsonlCorpus) Fingerprint() (string, error) {
	h := sha256.New()
	if err := stampFile(h, c.path, c.path); err != nil {
		return "", err
	}
	return fmt.Sprintf("jsonl:%x", h.Sum(nil)), nil
}

// stampFile writes what shows that a file changed: its name, size and modification time.
func stampFile(w io.Writer, path, name string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return &Error{File: path, Msg: "cannot find the file", Err: err}
	}
	info, err := os.Stat(abs)
	if err != nil {
		return &Error{File: path, Msg: "cannot find the file", Err: err}
	}
	_, err = fmt.Fprintf(w, "%q %q %d %d\n", abs, name, info.Size(), info.ModTime().UnixNano())
	return err
}

func (c *jsonlCorpus) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		f, err := os.Open(c.path)
		if err != nil {
			yield(Document{}, &Error{File: c.path, Msg: "cannot open the corpus", Err: err})
			return
		}
		defer f.Close()
		readDocuments(ctx, c.path, f, yield)
	}
}

// readDocuments holds one line and all ids in memory.
func readDocuments(ctx context.Context, file string, r io.Reader, yield func(Document, error) bool) {
	lines, err := newLineReader(file, r)
	if err != nil {
		yield(Document{}, err)
		return
	}
	seen := map[string]int{} // id to line
	for {
		if err := ctx.Err(); err != nil {
			yield(Document{}, err)
			return
		}
		line, err := lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			yield(Document{}, err)
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		o, err := parseObject(lines, line)
		if err != nil {
			yield(Document{}, err)
			return
		}
		d, key, err := parseDocument(o)
		if err == nil && seen[d.ID] > 0 {
			err = o.fault(key, fmt.Sprintf("the id %q was used on line %d", d.ID, seen[d.ID]), "every document needs an id of its own")
		}
		if err != nil {
			yield(Document{}, err)
			return
		}
		seen[d.ID] = lines.number
		if !yield(d, nil) {
			return
		}
	}
	if len(seen) == 0 {
		yield(Document{}, &Error{File: file, Msg: "the corpus is empty", Hint: "write one document a line: {\"_id\": ..., \"title\": ..., \"text\": ...}"})
	}
}

// parseDocument also says which key held the id.
func parseDocument(o *object) (d Document, idKey string, err error) {
	idKey = o.first("_id", "id")
	if idKey == "" {
		return d, "", o.fault("", "the document has no \"_id\" and no \"id\"", "give every document an id")
	}
	if d.ID, err = o.scalar(idKey); err != nil {
		return d, "", err
	}
	if d.ID == "" {
		return d, "", o.fault(idKey, "the id is empty", "give every document an id")
	}
	if !o.has("text") {
		return d, "", o.fault("text", fmt.Sprintf("document %q has no \"text\"", d.ID), "an empty document is written \"text\": \"\"")
	}
	if d.Text, err = o.str("text"); err != nil {
		return d, "", err
	}
	if d.Title, err = o.str("title"); err != nil {
		return d, "", err
	}
	if o.has("sections") {
		if d.Sections, err = parseSections(o, d.Text); err != nil {
			return d, "", err
		}
	}
	d.Fields = parseFields(o, idKey)
	return d, idKey, nil
}

// parseSections reads [{"id": ..., "start": ..., "end": ...}, ...].
func parseSections(o *object, text string) ([]Section, error) {
	const key = "sections"
	var list []struct {
		ID         json.RawMessage
		Start, End json.RawMessage
	}
	if err := json.Unmarshal(o.members[key], &list); err != nil {
		return nil, o.fault(key, "\"sections\" must be a list of {\"id\", \"start\", \"end\"}, not "+kindOf(o.members[key]), "")
	}
	points := utf8.RuneCountInString(text)
	seen := make(map[string]bool, len(list))
	sections := make([]Section, 0, len(list))
	for i, s := range list {
		id, ok := scalarText(s.ID)
		if !ok || id == "" {
			return nil, o.fault(key, fmt.Sprintf("sections[%d] has no \"id\"", i), "")
		}
		if seen[id] {
			return nil, o.fault(key, fmt.Sprintf("sections[%d]: the id %q is used twice in this document", i, id), "")
		}
		seen[id] = true
		start, ok1 := wholeNumber(s.Start)
		end, ok2 := wholeNumber(s.End)
		if !ok1 || !ok2 {
			return nil, o.fault(key, fmt.Sprintf("section %q needs \"start\" and \"end\" as whole numbers", id), "they count code points of \"text\", end exclusive")
		}
		if start < 0 || start > end || end > points {
			return nil, o.fault(key, fmt.Sprintf("section %q is [%d, %d) of a text of %d code points", id, start, end, points),
				"offsets count Unicode code points, not bytes, end exclusive")
		}
		sections = append(sections, Section{ID: id, Start: start, End: end})
	}
	return sections, nil
}

func parseFields(o *object, idKey string) map[string]string {
	var fields map[string]string
	set := func(key string, raw json.RawMessage) {
		if s, ok := scalarText(raw); ok {
			if fields == nil {
				fields = map[string]string{}
			}
			fields[key] = s
		}
	}
	var metadata map[string]json.RawMessage
	if raw := o.members["metadata"]; len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &metadata) == nil {
		for key, value := range metadata {
			set(key, value)
		}
	}
	for key, raw := range o.members {
		switch key {
		case idKey, "title", "text", "sections":
		default:
			set(key, raw)
		}
	}
	return fields
}
