package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxLine is the longest line, and the longest text file of a folder, that is read.
const maxLine = 64 << 20

// lineReader gives the lines of a text file with their places, and refuses what is not UTF-8 text.
type lineReader struct {
	file   string
	r      *bufio.Reader
	buf    []byte
	number int   // of the current line, from 1
	start  int64 // byte offset of the current line
	next   int64 // byte offset of the line after it
}

// newLineReader looks at the head of r, drops a byte order mark, and refuses what cannot be text.
func newLineReader(file string, r io.Reader) (*lineReader, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Msg: "cannot read", Err: err}
	}
	if err := refuseNonText(file, head); err != nil {
		return nil, err
	}
	l := &lineReader{file: file, r: br}
	if bytes.HasPrefix(head, []byte(utf8BOM)) {
		n, err := br.Discard(len(utf8BOM))
		if err != nil {
			return nil, &Error{File: file, Msg: "cannot read", Err: err}
		}
		l.next = int64(n)
	}
	return l, nil
}

// read is the next line without its line ending (\n or \r\n), valid until the next call, or io.EOF.
func (l *lineReader) read() ([]byte, error) {
	l.buf = l.buf[:0]
	l.start = l.next
	l.number++
	for {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if len(l.buf)+len(part) > maxLine {
			return nil, l.fault(0, fmt.Sprintf("the line is longer than %d MiB", maxLine>>20), "split the document")
		}
		l.buf = append(l.buf, part...)
		if err == nil || errors.Is(err, io.EOF) && len(l.buf) > 0 {
			break
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, &Error{File: l.file, Line: l.number, Msg: "cannot read", Err: err}
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
	if bad := invalidUTF8(line); bad >= 0 {
		return nil, l.fault(columnOf(line, bad), fmt.Sprintf("invalid UTF-8 (0x%02x at byte offset %d)", line[bad], l.start+int64(bad)), utf8Hint)
	}
	if zero := bytes.IndexByte(line, 0); zero >= 0 {
		return nil, l.fault(columnOf(line, zero), fmt.Sprintf("a zero byte (at byte offset %d), which no text has", l.start+int64(zero)), "is the file damaged, or of another encoding?")
	}
	return line, nil
}

// fault is an *Error at the current line. A column of 0 means the whole line.
func (l *lineReader) fault(column int, msg, hint string) error {
	return &Error{File: l.file, Line: l.number, Column: column, Offset: l.start, Msg: msg, Hint: hint}
}

// columnOf is the column, in code points from 1, of byte offset of line.
func columnOf(line []byte, offset int) int {
	return utf8.RuneCount(line[:min(max(offset, 0), len(line))]) + 1
}

// headSize is how much of a file refuseNonText wants to see.
const headSize = 512

const (
	utf8BOM  = "\xef\xbb\xbf"
	utf8Hint = "convert the file to UTF-8, for example with: iconv -f ISO-8859-1 -t UTF-8"
)

// fileKind is a kind of file that users give in place of another, by how it begins.
type fileKind struct{ magic, msg, hint string }

// pointerKinds are what stands in place of data that was not fetched.
var pointerKinds = []fileKind{
	{"version https://git-lfs", "this is a large-file pointer (Git LFS) in place of the data", "run: git lfs pull"},
	{"/annex/objects/", "this is a large-file pointer (git-annex) in place of the data", "run: git annex get"},
}

// binaryKinds are no texts. What they begin with is long enough that a text about them does not begin so too.
var binaryKinds = []fileKind{
	{"\xff\xfe", "this is UTF-16 text", "convert it, for example with: iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "this is UTF-16 text", "convert it, for example with: iconv -f UTF-16 -t UTF-8"},
	{"\x1f\x8b", "this is a gzip file", "decompress it first: gunzip"},
	{"\x28\xb5\x2f\xfd", "this is a zstd file", "decompress it first: unzstd"},
	{"BZh91AY&SY", "this is a bzip2 file", "decompress it first: bunzip2"},
	{"PK\x03\x04", "this is a zip file", "unpack it first: unzip"},
	{"PAR1\x15", "this is a Parquet file", "text is read from JSON Lines, CSV, .md and .txt"},
}

// refuseKinds is an *Error if a file, of which head is the first bytes, is of one of kinds.
func refuseKinds(file string, head []byte, kinds []fileKind) error {
	for _, kind := range kinds {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return &Error{File: file, Msg: kind.msg, Hint: kind.hint}
		}
	}
	return nil
}

// refuseNonText is an *Error if head, the first bytes of a file, is not that of UTF-8 text.
func refuseNonText(file string, head []byte) error {
	for _, kinds := range [][]fileKind{pointerKinds, binaryKinds} {
		if err := refuseKinds(file, head, kinds); err != nil {
			return err
		}
	}
	// UTF-16 without a mark: nearly every other byte of western text is zero.
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	if pairs := len(head) / 2; pairs >= 2 && (zeros[0] > pairs*2/5 || zeros[1] > pairs*2/5) {
		return &Error{
			File: file, Msg: "every other byte is zero, as in UTF-16 text without a byte order mark",
			Hint: "convert it, for example with: iconv -f UTF-16LE -t UTF-8",
		}
	}
	return nil
}

// invalidUTF8 is the offset of the first byte of b that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
