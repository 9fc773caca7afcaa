package datasets

import (
	"bytes"
	"fmt"
	"strconv"
)

// npyParser reads the part of Python's literals that headers of npy files are made of.
type npyParser struct {
	path string
	text []byte
	base int // byte of the file at which text begins
	pos  int
}

func (p *npyParser) fault(msg string) error {
	return &Error{
		File: p.path, Offset: int64(p.base + p.pos), Msg: "in the npy header: " + msg,
		Hint: "the file is broken; save the array again with numpy.save",
	}
}

// header reads the dictionary with its three keys, in any order.
func (p *npyParser) header() (npyArray, error) {
	var a npyArray
	seen := map[string]bool{}
	if err := p.expect('{'); err != nil {
		return a, err
	}
	for p.peek() != '}' {
		key, err := p.str()
		if err != nil {
			return a, err
		}
		if seen[key] {
			return a, p.fault(fmt.Sprintf("the key %q stands twice", key))
		}
		seen[key] = true
		if err := p.expect(':'); err != nil {
			return a, err
		}
		switch key {
		case "descr":
			a.descr, err = p.descr()
		case "fortran_order":
			a.fortran, err = p.boolean()
		case "shape":
			a.shape, err = p.shape()
		default:
			err = p.fault(fmt.Sprintf("unknown key %q", key))
		}
		if err != nil {
			return a, err
		}
		if p.peek() == ',' {
			p.pos++
		} else if p.peek() != '}' {
			return a, p.fault("',' or '}' is missing")
		}
	}
	p.pos++
	if p.peek() != 0 {
		return a, p.fault("something follows the closing '}'")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return a, p.fault(fmt.Sprintf("the key %q is missing", key))
		}
	}
	return a, nil
}

// peek is the next byte that is not white space, or 0 at the end.
func (p *npyParser) peek() byte {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case ' ', '\n', '\t', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

func (p *npyParser) expect(c byte) error {
	if p.peek() != c {
		return p.fault(fmt.Sprintf("%q is missing", c))
	}
	p.pos++
	return nil
}

// str reads a quoted string; headers have none with escapes.
func (p *npyParser) str() (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", p.fault("a quoted string is missing")
	}
	body := p.text[p.pos+1:]
	end := bytes.IndexByte(body, quote)
	if end < 0 {
		return "", p.fault("a string does not end")
	}
	p.pos += end + 2
	return string(body[:end]), nil
}

// descr reads the type of the values. A list is a structured type: it is skipped and gives "".
func (p *npyParser) descr() (string, error) {
	if p.peek() != '[' {
		s, err := p.str()
		if err == nil && s == "" {
			err = p.fault("the type of the values is empty")
		}
		return s, err
	}
	depth := 0
	for {
		switch p.peek() {
		case 0:
			return "", p.fault("the list of fields does not end")
		case '\'', '"':
			if _, err := p.str(); err != nil {
				return "", err
			}
			continue
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		}
		p.pos++
		if depth == 0 {
			return "", nil
		}
	}
}

func (p *npyParser) boolean() (bool, error) {
	p.peek()
	for _, b := range []struct {
		word  string
		value bool
	}{{"True", true}, {"False", false}} {
		if bytes.HasPrefix(p.text[p.pos:], []byte(b.word)) {
			p.pos += len(b.word)
			return b.value, nil
		}
	}
	return false, p.fault("True or False is missing")
}

// shape reads a tuple of sizes. Python 2 wrote some of them with the suffix L.
func (p *npyParser) shape() ([]uint64, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var shape []uint64
	for p.peek() != ')' {
		from := p.pos
		for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
			p.pos++
		}
		n, err := strconv.ParseUint(string(p.text[from:p.pos]), 10, 64)
		if err != nil {
			return nil, p.fault(fmt.Sprintf("%q is not a size", p.text[from:p.pos]))
		}
		shape = append(shape, n)
		if p.peek() == 'L' {
			p.pos++
		}
		if p.peek() == ',' {
			p.pos++
		} else if p.peek() != ')' {
			return nil, p.fault("',' or ')' is missing in the shape")
		}
	}
	p.pos++
	return shape, nil
}
