package chunkers

// recursive fills each chunk up to the last paragraph that still fits; where not even one fits, up to the last line,
// and so on down to units. That is splitting by ever finer separators and merging what fits, without doing either.
type recursive struct{ window }

func (c *recursive) Chunk(text string, dst []Chunk) ([]Chunk, error) {
	s, err := c.prepare(text)
	if err != nil {
		return dst, err
	}
	defer scratches.Put(s)
	if text == "" {
		return dst, nil
	}
	u, out := s.units, cutter{text: text}
	start, stop := skipSpace(text, 0), trimSpace(text, 0, len(text))
	if start == len(text) { // white space only
		return append(dst, out.cut(0, u.at(u.reach(0, c.size), text))), nil
	}
	s.seams.find(text)
	fresh := start // where text begins that is in no chunk yet
	for {
		reach := u.at(u.reach(u.holding(start), c.size), text)
		if reach <= fresh { // the overlap leaves no room for anything new
			start = fresh
			continue
		}
		end := stop
		if reach < stop {
			cut, ok := s.seams.last(fresh, reach)
			if !ok {
				cut = reach
			}
			end = trimSpace(text, start, cut)
		}
		dst = append(dst, out.cut(start, end))
		if end == stop {
			return dst, nil
		}
		fresh = skipSpace(text, end)
		start = c.next(text, s, start, end, fresh)
	}
}

// next is where the chunk after [start, end) starts. The overlap begins at a sentence, line or paragraph if one starts
// in its first half, else at a word, else at a unit. A chunk that is no longer than the overlap is not repeated.
func (c *recursive) next(text string, s *scratch, start, end, fresh int) int {
	u := s.units
	after := u.first(end)
	if c.overlap == 0 || after-u.holding(start) <= c.overlap {
		return fresh
	}
	low := u.at(u.ceil(after-c.overlap), text)
	if low >= end {
		return fresh
	}
	at, ok := s.seams.first(low, low+(end-low+1)/2, sentence)
	if !ok {
		at, ok = s.seams.first(low, end, word)
	}
	if !ok {
		at = low
	}
	at = skipSpace(text, at)
	if at <= start {
		return fresh
	}
	return at
}
