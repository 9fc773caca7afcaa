package results

import (
	"math"
)

// groupCount builds Groups from rows that are not there as Rows. Rows that say the same of their data and machine are
// counted together.
type groupCount struct {
	groups []Group
	last   [5]uint32
	any    bool
	row    Row
	at     int
}

func (c *groupCount) add(t *scanTable, i int) {
	var key [5]uint32
	for k, name := range groupTexts()[1:] {
		key[k] = t.texts[name].codes[i]
	}
	if !math.IsNaN(t.cores[i]) {
		key[4] = uint32(t.cores[i]) + 1
	}
	if !c.any || key != c.last {
		c.any, c.last, c.row = true, key, Row{}
		for _, name := range groupTexts()[1:] {
			if text := t.texts[name].at(i); text != "" {
				c.row[name] = text
			}
		}
		if key[4] > 0 {
			c.row["cores"] = int64(t.cores[i])
		}
		c.at = groupOf(&c.groups, c.row)
	}
	c.groups[c.at].count(c.row)
}
