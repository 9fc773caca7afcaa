package results

import (
	"sync"
)

// dictionary is a column of few different texts: number 0 is null, number n the text n-1.
type dictionary struct {
	mu    sync.Mutex
	codes []uint32
	list  []string
	index map[string]uint32
}

func newDictionary(rows int) *dictionary {
	return &dictionary{codes: make([]uint32, rows), index: map[string]uint32{}}
}

func (d *dictionary) at(row int) string {
	if d.codes[row] == 0 {
		return ""
	}
	return d.list[d.codes[row]-1]
}

// number is that of a text, new or not.
func (d *dictionary) number(text []byte) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.index[string(text)]
	if !ok {
		d.list = append(d.list, string(text))
		n = uint32(len(d.list))
		d.index[string(text)] = n
	}
	return n
}

// read fills the part of a row group. Equal texts mostly stand together, so that the dictionary is seldom asked.
func (d *dictionary) read(c chunk) error {
	var last []byte
	var number uint32
	return c.texts(func(row int, v []byte) {
		if number == 0 || string(v) != string(last) {
			last = append(last[:0], v...)
			number = d.number(v)
		}
		d.codes[row] = number
	})
}
