package results

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// checkedPages passes on the pages of a column chunk after checking that each holds as many levels as its header says.
// The library's column reader loops forever on a page that holds fewer.
type checkedPages struct {
	file.PageReader
	column *schema.Column
	err    error
}

// Next implements file.PageReader.
func (p *checkedPages) Next() bool {
	if p.err != nil || !p.PageReader.Next() {
		return false
	}
	p.err = p.check(p.Page())
	return p.err == nil
}

// Err implements file.PageReader.
func (p *checkedPages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

func (p *checkedPages) check(page file.Page) error {
	n := int(page.NumValues())
	repetition, definition := p.column.MaxRepetitionLevel(), p.column.MaxDefinitionLevel()
	switch page := page.(type) {
	case *file.DataPageV1:
		data := page.Data()
		var err error
		if repetition > 0 {
			if data, err = checkLevelsV1(data, page.RepetitionLevelEncoding(), repetition, n); err != nil {
				return fmt.Errorf("repetition levels: %w", err)
			}
		}
		if definition > 0 {
			if _, err = checkLevelsV1(data, page.DefinitionLevelEncoding(), definition, n); err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
	case *file.DataPageV2:
		data := page.Data()
		r, d := int(page.RepetitionLevelByteLen()), int(page.DefinitionLevelByteLen())
		if r < 0 || d < 0 || r > len(data) || d > len(data)-r {
			return errors.New("a page is shorter than its levels")
		}
		if repetition > 0 {
			if err := checkLevels(data[:r], repetition, n); err != nil {
				return fmt.Errorf("repetition levels: %w", err)
			}
		}
		if err := checkLevels(data[r:r+d], definition, n); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
	}
	return nil
}

// checkLevelsV1 checks levels that begin with their own length, and returns what follows them.
func checkLevelsV1(data []byte, encoding parquet.Encoding, maxLevel int16, n int) (rest []byte, err error) {
	if encoding != parquet.Encodings.RLE {
		return nil, fmt.Errorf("they are encoded as %s, which no current writer does", encoding)
	}
	if len(data) < 4 {
		return nil, errors.New("a page is shorter than its levels")
	}
	size := binary.LittleEndian.Uint32(data)
	data = data[4:]
	if uint64(size) > uint64(len(data)) {
		return nil, errors.New("a page is shorter than its levels")
	}
	return data[size:], checkLevels(data[:size], maxLevel, n)
}

// checkLevels walks the runs of the RLE and bit-packing hybrid (Parquet format, Encodings.md) and reports whether they
// hold n levels of at most maxLevel.
func checkLevels(data []byte, maxLevel int16, n int) error {
	width := bits.Len16(uint16(maxLevel))
	for n > 0 {
		header, size := binary.Uvarint(data)
		if size <= 0 {
			return fmt.Errorf("%d are missing", n)
		}
		data = data[size:]
		count := header >> 1
		if count == 0 || count > 1<<31 {
			return fmt.Errorf("a run of %d levels", count)
		}
		if header&1 == 0 { // one level, repeated
			if len(data) < 1 {
				return fmt.Errorf("%d are missing", n)
			}
			if int16(data[0]) > maxLevel {
				return fmt.Errorf("level %d is above the largest, %d", data[0], maxLevel)
			}
			data = data[1:]
			n -= int(count)
			continue
		}
		packed := int(count) * width // count groups of 8 levels
		if packed > len(data) {
			return fmt.Errorf("%d are missing", n)
		}
		for i := range min(n, int(count)*8) {
			if l := bitsAt(data, i*width, width); l > int(maxLevel) {
				return fmt.Errorf("level %d is above the largest, %d", l, maxLevel)
			}
		}
		data = data[packed:]
		n -= int(count) * 8
	}
	return nil
}

// bitsAt are width (at most 8) bits of data from bit at, least significant first.
func bitsAt(data []byte, at, width int) int {
	window := uint16(data[at/8])
	if at/8+1 < len(data) {
		window |= uint16(data[at/8+1]) << 8
	}
	return int(window>>(at%8)) & (1<<width - 1)
}
