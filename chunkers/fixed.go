package chunkers

// fixed cuts windows of equal size at equal steps. With tokens, a window whose edge would fall inside a code point ends
// before that code point.
type fixed struct{ window }

func (f *fixed) Chunk(text string, dst []Chunk) ([]Chunk, error) {
	s, err := f.prepare(text)
	if err != nil {
		return dst, err
	}
	defer scratches.Put(s)
	if text == "" {
		return dst, nil
	}
	if len(s.units) == 0 { // no words: white space only
		return append(dst, (&cutter{text: text}).cut(0, len(text))), nil
	}
	u, c, made := s.units, cutter{text: text}, len(dst)
	for i := 0; ; {
		end := u.reach(i, f.size)
		from, to := u.at(i, text), u.at(end, text)
		last := trimSpace(text, from, to)
		if f.unit == Words {
			to = last
		}
		if last > from {
			dst = append(dst, c.cut(from, to))
		}
		if end == len(u) {
			break
		}
		i = max(u.ceil(end-f.overlap), u.ceil(i+1)) // the second only where a window had to end early
		if u.reach(i, f.size) <= end {              // and so did the next one: it would bring nothing new
			i = end
		}
	}
	if len(dst) == made { // white space only
		dst = append(dst, c.cut(0, u.at(u.reach(0, f.size), text)))
	}
	return dst, nil
}
