package results

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unicode/utf8"

	"frontier/results/internal/bounded"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"golang.org/x/sync/errgroup"
)

// scan reads some columns of many rows, several row groups at once, and keeps nothing else of the files in memory.
type scan struct {
	files []*scanFile
	rows  int
}

// scanFile is a file whose footer was read and found sound.
type scanFile struct {
	path    string
	file    *os.File
	reader  *file.Reader
	size    int64
	columns map[string]*column // those that are known
	unknown []string
	base    int // of its first row among those of all files
}

// openScan reads the footers of the files that paths name, as ReadRows takes them. The caller closes the scan.
func openScan(paths []string) (*scan, error) {
	names, err := folder{whole: "results.parquet", parts: "parts"}.resolve(paths)
	if err != nil {
		return nil, err
	}
	s := &scan{}
	c := newCatalogue()
	for _, name := range names {
		f, err := openScanFile(name, c)
		if err != nil {
			s.close()
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		f.base = s.rows
		s.files = append(s.files, f)
		s.rows += int(f.reader.NumRows())
	}
	return s, nil
}

func openScanFile(path string, c *catalogue) (_ *scanFile, err error) {
	f := &scanFile{path: path}
	if f.file, err = os.Open(path); err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the file is damaged: %v", p)
		}
		if err != nil {
			f.file.Close()
		}
	}()
	info, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	f.size = info.Size()
	if f.reader, err = openParquet(f.file, f.size); err != nil {
		return nil, err
	}
	known, unknown, err := topColumns(f.reader.MetaData().Schema, tableReader{
		columnType: func(name string) (Type, bool) {
			i, _, ok := c.find(name)
			if !ok {
				return 0, false
			}
			return c.columns[i].Type, true
		},
		required: "point_id",
	}, f.size)
	if err != nil {
		return nil, err
	}
	f.unknown = unknown
	f.columns = make(map[string]*column, len(known))
	for i := range known {
		f.columns[known[i].name] = &known[i]
	}
	return f, nil
}

// openParquet reads and checks the footer of a file of ours.
func openParquet(r parquet.ReaderAtSeeker, size int64) (*file.Reader, error) {
	if size == 0 {
		return nil, errors.New("the file is empty; it was not written by frontier, or the disk was full")
	}
	head := make([]byte, min(size, 64))
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if err := refusePointer(head); err != nil {
		return nil, err
	}
	props := parquet.NewReaderProperties(bounded.Allocator(size*maxValuesPerByte + 64<<20))
	f, err := file.NewParquetReader(r, file.WithReadProps(props))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file, or cut short (%d bytes): %w", size, err)
	}
	if err := checkSchema(f.MetaData().KeyValueMetadata()); err != nil {
		return nil, err
	}
	if err := checkCounts(f, size); err != nil {
		return nil, err
	}
	return f, nil
}

func (s *scan) close() {
	for _, f := range s.files {
		f.file.Close() // it was only read
	}
}

// names are the known columns that any file has.
func (s *scan) names() []string {
	has := map[string]bool{}
	for _, f := range s.files {
		for name := range f.columns {
			has[name] = true
		}
	}
	return sortedKeys(has)
}

// chunk is one column in one row group.
type chunk struct {
	*column
	group *file.RowGroupReader
	first int // row of the scan
	rows  int
}

// each calls work for the columns in every row group of the files that have them, in as many goroutines as there are
// cores. wanted may leave out row groups; nil is all.
func (s *scan) each(ctx context.Context, names []string, wanted func(first, rows int) bool, work func(chunk) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range s.files {
		first := f.base
		for i := range f.reader.NumRowGroups() {
			rows := int(f.reader.MetaData().RowGroups[i].GetNumRows())
			at := first
			first += rows
			if wanted != nil && !wanted(at, rows) {
				continue
			}
			for _, name := range names {
				c, ok := f.columns[name]
				if !ok {
					continue
				}
				g.Go(func() (err error) {
					defer func() {
						if p := recover(); p != nil {
							err = fmt.Errorf("the file is damaged: %v", p)
						}
						if err != nil && !errors.Is(err, context.Canceled) {
							err = fmt.Errorf("reading %s: row group %d, column %q: %w", f.path, i, name, err)
						}
					}()
					if err := ctx.Err(); err != nil {
						return err
					}
					return work(chunk{c, f.reader.RowGroup(i), at, rows})
				})
			}
		}
	}
	return g.Wait()
}

// onlyNulls says whether the statistics count a null for each row: most columns of a file are such. What is read does not
// rest on it, for statistics may be damaged where the values are not.
func (c *column) onlyNulls(group *file.RowGroupReader, rows int) (bool, error) {
	for _, leaf := range c.leaves {
		meta, err := group.MetaData().ColumnChunk(leaf)
		if err != nil {
			return false, err
		}
		set, err := meta.StatsSet()
		if err != nil || !set {
			return false, err
		}
		stats, err := meta.Statistics()
		if err != nil {
			return false, err
		}
		if !stats.HasNullCount() || stats.NullCount() != int64(rows) || meta.NumValues() != int64(rows) {
			return false, nil
		}
	}
	return true, nil
}

// numbers reads a numeric column; null is NaN.
func (c chunk) numbers(into []float64) error {
	part := into[c.first : c.first+c.rows]
	if c.typ == Int {
		return scalars[int64](c.column, c.group, c.rows, func(row int, v int64) error { part[row] = float64(v); return nil })
	}
	return scalars[float64](c.column, c.group, c.rows, func(row int, v float64) error {
		if err := checkNumber(v); err != nil {
			return fmt.Errorf("row %d: %w", row, errNotFinite)
		}
		part[row] = v
		return nil
	})
}

// times reads a column of times, in microseconds; what into holds stays where it is null.
func (c chunk) times(into []int64) error {
	part := into[c.first : c.first+c.rows]
	return scalars[int64](c.column, c.group, c.rows, func(row int, v int64) error { part[row] = c.scale(v).UnixMicro(); return nil })
}

// texts calls each with the values that are not null, as bytes that are valid until it returns.
func (c chunk) texts(each func(row int, v []byte)) error {
	return scalars[parquet.ByteArray](c.column, c.group, c.rows, func(row int, v parquet.ByteArray) error {
		each(c.first+row, v)
		return nil
	})
}

// values reads any column.
func (c chunk) values(each func(row int, v any)) error {
	return c.column.read(c.group, c.rows, func(row int, v any) { each(c.first+row, v) })
}

// rowsAt reads rows, given by their ascending numbers, with some of their columns.
func (s *scan) rowsAt(ctx context.Context, numbers []int, names []string) ([]Row, error) {
	out := make([]Row, len(numbers))
	for i := range out {
		out[i] = Row{}
	}
	columns := make([][]any, len(names)) // a map must not be written to by several goroutines
	index := make(map[string]int, len(names))
	for j, name := range names {
		columns[j] = make([]any, len(numbers))
		index[name] = j
	}
	span := func(first, rows int) (from, to int) {
		from, _ = slices.BinarySearch(numbers, first)
		to, _ = slices.BinarySearch(numbers, first+rows)
		return from, to
	}
	err := s.each(ctx, names, func(first, rows int) bool {
		from, to := span(first, rows)
		return from < to
	}, func(c chunk) error {
		at, to := span(c.first, c.rows)
		values := columns[index[c.name]]
		wanted := func(row int) bool {
			for at < to && numbers[at] < row {
				at++
			}
			return at < to && numbers[at] == row
		}
		if c.typ != String {
			return c.values(func(row int, v any) {
				if wanted(row) {
					values[at] = v
				}
			})
		}
		var invalid error // most of a column of ids is not wanted: no text is made of it
		err := c.texts(func(row int, v []byte) {
			if !wanted(row) {
				return
			}
			if !utf8.Valid(v) {
				invalid = fmt.Errorf("the text %q is not valid UTF-8", v)
			}
			values[at] = string(v)
		})
		return errors.Join(err, invalid)
	})
	if err != nil {
		return nil, err
	}
	for j, name := range names {
		for i, v := range columns[j] {
			if v != nil {
				out[i][name] = v
			}
		}
	}
	return out, nil
}
