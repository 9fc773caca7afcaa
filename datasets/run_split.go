package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Bytes of a run that are read at a time: at first few, as most runs are small, and then twice as many each time.
const (
	runChunkFirst = 64 << 10
	runChunk      = 1 << 20
)

// split cuts the run into batches between two queries.
func (r *runReader) split(ctx context.Context) error {
	return r.chunks(ctx, queryBoundary, func(data []byte, line int, pooled []byte) error {
		select {
		case r.batches <- runBatch{data: data, line: line, pooled: pooled}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// group collects the lines of each query from all over the run, and then hands them out.
func (r *runReader) group(ctx context.Context) error {
	groups, order := map[string]*runBatch{}, []*runBatch(nil)
	err := r.chunks(ctx, lineBoundary, func(data []byte, line int, pooled []byte) error {
		for ; len(data) > 0; line++ {
			var text []byte
			text, data = cutLine(data)
			query := firstField(text)
			if query == nil {
				continue
			}
			g := groups[string(query)]
			if g == nil {
				g = &runBatch{}
				groups[string(query)] = g
				order = append(order, g)
			}
			g.data = append(append(g.data, text...), '\n')
			g.lines = append(g.lines, line)
		}
		r.free <- pooled
		return nil
	})
	if err != nil {
		return err
	}
	for i, g := range order {
		select {
		case r.batches <- *g:
			order[i] = nil // nothing of it is needed once it was worked on
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// chunks reads all of the run and gives it to take in pieces that end where boundary says, each with the number of its
// first line. pooled goes back to r.free when the piece is of no more use. A boundary of 0 asks for a longer piece.
func (r *runReader) chunks(ctx context.Context, boundary func([]byte) int, take func(data []byte, line int, pooled []byte) error) error {
	var rest []byte // read, and not given away
	line, size := 1, runChunkFirst
	for first := true; ; first = false {
		buf, err := r.buffer(ctx, max(size, 2*len(rest)))
		if err != nil {
			return err
		}
		size = min(2*size, runChunk)
		n := copy(buf, rest)
		cut, eof := 0, false
		for cut == 0 && !eof {
			if n == len(buf) {
				buf = append(buf, make([]byte, len(buf))...)
			}
			m, err := io.ReadFull(r.r, buf[n:])
			if n += m; err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return &Error{File: r.file, Msg: "cannot read", Err: err}
			}
			eof = err != nil
			if first && n == m && bytes.HasPrefix(buf[:n], []byte(utf8BOM)) { // or it would be part of the first query
				n = copy(buf, buf[len(utf8BOM):n])
			}
			if cut = boundary(buf[:n]); eof {
				cut = n
			} else if cut == 0 && n > maxLine && bytes.IndexByte(buf[n-maxLine:n], '\n') < 0 {
				return &Error{File: r.file, Line: line, Msg: fmt.Sprintf("there is no end of a line within %d MiB", maxLine>>20), Hint: runHint}
			}
		}
		data := buf[:cut]
		rest = append(rest[:0], buf[cut:n]...)
		if first {
			if err := refuseNonText(r.file, data[:min(len(data), headSize)]); err != nil {
				return err
			}
		}
		lines := bytes.Count(data, []byte{'\n'})
		if err := take(data, line, buf); err != nil {
			return err
		}
		if line += lines; eof {
			return nil
		}
	}
}

// buffer is a free buffer of at least n bytes.
func (r *runReader) buffer(ctx context.Context, n int) ([]byte, error) {
	if err := ctx.Err(); err != nil { // of two cases that are ready, select takes any
		return nil, err
	}
	select {
	case buf := <-r.free:
		if len(buf) < n {
			buf = make([]byte, n)
		}
		return buf, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lineBoundary is where the last line that is whole ends, or 0.
func lineBoundary(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

// queryBoundary is where the last query of which there is a whole line begins, or 0 if it is the only one.
func queryBoundary(data []byte) int {
	var last []byte
	boundary := lineBoundary(data)
	for end := boundary; end > 0; {
		start := lineBoundary(data[:end-1])
		if query := firstField(data[start:end]); query != nil {
			if last != nil && !bytes.Equal(query, last) {
				return boundary
			}
			last, boundary = query, start
		}
		end = start
	}
	return 0
}

// cutLine is the first line of data without its ending, and what follows it.
func cutLine(data []byte) (line, rest []byte) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		line, rest = data[:i], data[i+1:]
	} else {
		line = data
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// firstField is the query of a line, nil if it is blank or a comment.
func firstField(line []byte) []byte {
	i := 0
	for i < len(line) && isBlank(line[i]) {
		i++
	}
	if i == len(line) || line[i] == '#' {
		return nil
	}
	start := i
	for i < len(line) && !isBlank(line[i]) {
		i++
	}
	return line[start:i]
}

// isBlank is C's isspace.
func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 }
