package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// folderCorpus is a folder of .md and .txt files, subfolders included, one document a file. The id is the path below
// the folder with slashes. Files and folders whose names begin with a dot are left out. The text is the file as it is,
// less a byte order mark.
type folderCorpus struct {
	root string
}

func (c *folderCorpus) Name() string { return c.root }

// Fingerprint is over the paths, sizes and modification times of all files.
func (c *folderCorpus) Fingerprint() (string, error) {
	ids, err := c.list()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, id := range ids {
		if err := stampFile(h, c.path(id), id); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("folder:%x", h.Sum(nil)), nil
}

func (c *folderCorpus) path(id string) string { return filepath.Join(c.root, filepath.FromSlash(id)) }

func (c *folderCorpus) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		ids, err := c.list()
		if err != nil {
			yield(Document{}, err)
			return
		}
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				yield(Document{}, err)
				return
			}
			d, err := c.load(id)
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// list is the ids of all documents, sorted.
func (c *folderCorpus) list() ([]string, error) {
	var ids []string
	root, err := filepath.EvalSymlinks(c.root) // WalkDir does not walk into a link, and this one the user named
	if err != nil {
		return nil, &Error{File: c.root, Msg: "cannot list the folder", Err: err}
	}
	err = filepath.WalkDir(root, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == root {
			return nil
		}
		if strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.IsDir() || !isText(entry.Name()) {
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			// A link to a folder is not followed: it could lead back here.
			if info, err := os.Stat(p); err != nil || info.IsDir() {
				return err
			}
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if !utf8.ValidString(rel) {
			return fmt.Errorf("the name of %q is not UTF-8, and so can be no id: rename it", rel)
		}
		ids = append(ids, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		return nil, &Error{File: c.root, Msg: "cannot list the folder", Err: err}
	}
	if len(ids) == 0 {
		return nil, &Error{File: c.root, Msg: "the corpus is empty: the folder and its subfolders hold no .md and no .txt file"}
	}
	slices.Sort(ids)
	return ids, nil
}

func isText(name string) bool {
	return isMarkdown(name) || strings.EqualFold(filepath.Ext(name), ".txt")
}

func isMarkdown(name string) bool {
	ext := filepath.Ext(name)
	return strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown")
}

func (c *folderCorpus) load(id string) (Document, error) {
	path := c.path(id)
	info, err := os.Stat(path)
	if err != nil {
		return Document{}, &Error{File: path, Msg: "cannot read the document", Err: err}
	}
	if !info.Mode().IsRegular() {
		return Document{}, &Error{File: path, Msg: "not a regular file", Hint: "remove it from the folder"}
	}
	if info.Size() > maxLine {
		return Document{}, &Error{File: path, Msg: fmt.Sprintf("the document has %d bytes, more than %d MiB", info.Size(), maxLine>>20), Hint: "split it"}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Document{}, &Error{File: path, Msg: "cannot read the document", Err: err}
	}
	text, err := DecodeText(path, raw)
	if err != nil {
		return Document{}, err
	}
	d := Document{ID: id, Text: text}
	if isMarkdown(id) {
		d.Title, d.Sections = markdownSections(text)
	}
	return d, nil
}

// DecodeText is raw, the content of file, as a string without a byte order mark: what a folder's document has as its text,
// and offsets count in. It is an *Error if raw is not UTF-8 text.
func DecodeText(file string, raw []byte) (string, error) {
	if err := refuseNonText(file, raw[:min(len(raw), headSize)]); err != nil {
		return "", err
	}
	if bad := invalidUTF8(raw); bad >= 0 {
		lineStart := bytes.LastIndexByte(raw[:bad], '\n') + 1
		return "", &Error{
			File: file, Line: bytes.Count(raw[:bad], []byte("\n")) + 1, Column: columnOf(raw[lineStart:], bad-lineStart),
			Offset: int64(bad), Msg: fmt.Sprintf("invalid UTF-8 (0x%02x at byte offset %d)", raw[bad], bad), Hint: utf8Hint,
		}
	}
	return string(bytes.TrimPrefix(raw, []byte(utf8BOM))), nil
}
