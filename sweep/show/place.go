package show

import (
	"fmt"
	"strconv"
	"strings"
)

// place is a chunk as queries/ names it.
type place struct {
	document   string
	start, end int // code points; -1 for a whole document or a row
}

// parsePlace reads "document#start-end" or "document".
func parsePlace(text string) (place, error) {
	at := strings.LastIndex(text, "#")
	if at < 0 {
		return place{text, -1, -1}, nil
	}
	first, last, ok := strings.Cut(text[at+1:], "-")
	start, err1 := strconv.Atoi(first)
	end, err2 := strconv.Atoi(last)
	if !ok || err1 != nil || err2 != nil || start < 0 || end < start {
		return place{}, fmt.Errorf("%q is not the place of a chunk, which is document#start-end", text)
	}
	return place{text[:at], start, end}, nil
}

// excerptLength is how much of a chunk is shown, in code points.
const excerptLength = 240

// excerpt is the part of text from start to end on one line, with marks around [from, to) where that is a part of it. Of a
// long part it shows the surroundings of the marked one.
func excerpt(text string, start, end, from, to int) string {
	runes := []rune(text)
	start, end = max(start, 0), min(end, len(runes))
	if start >= end {
		return ""
	}
	from, to = max(from, start), min(to, end)
	marked := from < to
	first, last := start, end
	if last-first > excerptLength {
		if marked {
			first = max(start, min(from-excerptLength/3, end-excerptLength))
		}
		last = min(end, max(first+excerptLength, min(to, first+2*excerptLength)))
	}
	var b strings.Builder
	if first > start {
		b.WriteString("… ")
	}
	if marked && from < last {
		stop := min(to, last)
		b.WriteString(string(runes[first:from]) + "«" + string(runes[from:stop]) + "»" + string(runes[stop:last]))
	} else {
		b.WriteString(string(runes[first:last]))
	}
	if last < end {
		b.WriteString(" …")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
