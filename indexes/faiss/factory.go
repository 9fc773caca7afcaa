package faiss

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// factory is what this package understands of a FAISS factory string: enough to fill result columns and to refuse what
// cannot work before anything is built. FAISS itself has the last word.
type factory struct {
	kind          string // flat, hnsw, hnsw_sq, hnsw_pq, ivf_flat, ivf_sq, ivf_pq, sq, pq, lsh, nsg, ...; "other" if not understood
	nlist         int64  // 0: no inverted lists
	m             int64  // links of an HNSW graph, or of NSG
	pqM, pqBits   int64  // sub-quantizers and bits of each
	sqBits        int64
	refine        bool // candidates are ranked again by better vectors
	opq           bool
	polysemous    bool // the codes are also trained to be compared as bits
	quantizerHNSW bool // the coarse quantizer is a graph with an efSearch of its own
	dim           int  // dimensions that reach the codes, after transforms; -1 if not known
}

func (f *factory) ivf() bool  { return f.nlist > 0 }
func (f *factory) hnsw() bool { return strings.HasPrefix(f.kind, "hnsw") }

// trainingRows is the fewest rows that k-means accepts, one a centroid.
func (f *factory) trainingRows() int64 {
	rows := f.nlist
	if f.kind == "ivf_imi" {
		rows = 0 // its lists are pairs of far fewer centroids
	}
	if f.pqBits > 0 && f.pqBits < 32 {
		rows = max(rows, 1<<f.pqBits)
	}
	if f.opq {
		rows = max(rows, 256) // the rotation is learned with 8-bit quantizers, whatever comes after it
	}
	return rows
}

var (
	reRefine    = regexp.MustCompile(`^(.+),Refine\((.+)\)$`)
	reTransform = regexp.MustCompile(`^(?:(PCA)W?R?([0-9]+)|(L2[nN]orm)|(RR)([0-9]+)?|(ITQ)([0-9]+)?|(OPQ)([0-9]+)(?:_([0-9]+))?|(Pad)([0-9]+))$`)
	reIVF       = regexp.MustCompile(`^IVF([0-9]+)(?:(_HNSW[0-9]*)|_NSG[0-9]+|\(.*\))?$`)
	reIMI       = regexp.MustCompile(`^IMI2x([0-9]+)$`)
	reGraph     = regexp.MustCompile(`^(HNSW|NSG)([0-9]*)(?:[,_](.*))?$`)
	reSQ        = regexp.MustCompile(`^SQ(4|6|8|fp16)$`)
	rePQ        = regexp.MustCompile(`^PQ([0-9]+)(?:x([0-9]+))?(?:np)?$`)
	reFastScan  = regexp.MustCompile(`^PQ([0-9]+)x4fsr?(?:_[0-9]+)?$`)
	rePQR       = regexp.MustCompile(`^PQ([0-9]+)\+([0-9]+)$`)
	reLSH       = regexp.MustCompile(`^LSHr?t?$`)
	reAdditive  = regexp.MustCompile(`^P?(?:RQ|RCQ|LSQ|LSCQ)[0-9]+x[0-9]+`)
)

// parse reads the factory string spec for vectors of dim values, -1 if that is not known. The error names the part
// that cannot be; a part that is not understood is no error.
func parse(spec string, dim int) (factory, error) {
	f := factory{dim: dim}
	rest := strings.TrimSpace(spec)
	if rest == "" {
		return f, fmt.Errorf(`is empty; write for example "IVF1024,Flat" or "HNSW32"`)
	}
	if strings.ContainsAny(rest, "{}") {
		return f, fmt.Errorf("%q has a placeholder without a value; give a parameter of that name", spec)
	}
	rest = f.unwrap(rest)
	rest, err := f.transforms(rest)
	if err != nil {
		return f, fmt.Errorf("%q: %w", spec, err)
	}
	if err := f.structure(rest); err != nil {
		return f, fmt.Errorf("%q: %w", spec, err)
	}
	if f.dim > 0 && f.pqM > 0 && int64(f.dim)%f.pqM != 0 {
		return f, fmt.Errorf("%q: PQ%d does not divide the %d dimensions that reach it; use %s", spec, f.pqM, f.dim, divisorsNear(int64(f.dim), f.pqM))
	}
	if f.pqBits > 24 {
		return f, fmt.Errorf("%q: %d bits a sub-quantizer are more than the 24 that FAISS has", spec, f.pqBits)
	}
	return f, nil
}

// unwrap takes off what stands around the index: refinement, ids, row-wise scaling.
func (f *factory) unwrap(s string) string {
	for {
		before := s
		for _, suffix := range []string{",RFlat", ",IDMap2", ",IDMap"} {
			if cut, ok := strings.CutSuffix(s, suffix); ok {
				f.refine = f.refine || suffix == ",RFlat"
				s = cut
			}
		}
		for _, prefix := range []string{"IDMap2,", "IDMap,", "MinMaxFP16,", "MinMax,"} {
			s = strings.TrimPrefix(s, prefix)
		}
		if m := reRefine.FindStringSubmatch(s); m != nil {
			f.refine, s = true, m[1]
		}
		if s == before {
			return s
		}
	}
}

// transforms takes off the leading vector transforms and follows the dimension through them.
func (f *factory) transforms(s string) (string, error) {
	for {
		head, tail, more := strings.Cut(s, ",")
		m := reTransform.FindStringSubmatch(head)
		if m == nil || !more {
			return s, nil
		}
		switch {
		case m[1] == "PCA":
			out, err := number(m[2])
			if err != nil {
				return "", err
			}
			if f.dim > 0 && out > int64(f.dim) {
				return "", fmt.Errorf("%s keeps more dimensions than the %d there are", head, f.dim)
			}
			f.dim = int(out)
		case m[8] == "OPQ":
			f.opq = true
			parts, err := number(m[9])
			if err != nil {
				return "", err
			}
			if m[10] != "" {
				out, err := number(m[10])
				if err != nil {
					return "", err
				}
				f.dim = int(out)
			}
			if f.dim > 0 && int64(f.dim)%parts != 0 {
				return "", fmt.Errorf("%s does not divide the %d dimensions that leave it; use %s", head, f.dim, divisorsNear(int64(f.dim), parts))
			}
		default: // RR, ITQ and Pad name the dimension that leaves them, if they change it
			for _, size := range []string{m[5], m[7], m[12]} {
				if size == "" {
					continue
				}
				out, err := number(size)
				if err != nil {
					return "", err
				}
				f.dim = int(out)
			}
		}
		s = tail
	}
}

// structure reads the index proper.
func (f *factory) structure(s string) error {
	if m := reGraph.FindStringSubmatch(s); m != nil {
		f.m = 32 // FAISS's default
		if m[2] != "" {
			var err error
			if f.m, err = number(m[2]); err != nil {
				return err
			}
		}
		return f.codes(strings.ToLower(m[1]), m[3])
	}
	head, tail := cutOutside(s)
	if m := reIVF.FindStringSubmatch(head); m != nil {
		var err error
		if f.nlist, err = number(m[1]); err != nil {
			return err
		}
		f.quantizerHNSW = m[2] != "" || strings.HasPrefix(strings.TrimPrefix(head, "IVF"+m[1]), "(HNSW")
		return f.codes("ivf", tail)
	}
	if m := reIMI.FindStringSubmatch(head); m != nil {
		bits, err := number(m[1])
		if err != nil {
			return err
		}
		if bits > 24 {
			return fmt.Errorf("%s has 2^%d lists, which is more than any machine holds", head, 2*bits)
		}
		f.nlist, f.kind = 1<<(2*bits), "ivf_imi"
		return nil
	}
	return f.codes("", s)
}

// codes reads how the vectors themselves are kept, and completes the kind.
func (f *factory) codes(structure, s string) error {
	join := func(kind string) string {
		if structure == "" {
			return kind
		}
		return structure + "_" + kind
	}
	switch {
	case s == "" || s == "Flat":
		f.kind = join("flat")
		if structure == "hnsw" || structure == "nsg" {
			f.kind = structure
		} else if s == "" {
			f.kind = "other"
		}
	case s == "FlatDedup":
		f.kind = join("flat")
	case reSQ.MatchString(s):
		f.kind = join("sq")
		f.sqBits, _ = strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(s, "SQ"), "fp"), 10, 64)
	case reFastScan.MatchString(s):
		f.kind, f.pqBits = join("pq_fs"), 4
		return f.setPQ(reFastScan.FindStringSubmatch(s)[1], "4")
	case rePQ.MatchString(s):
		f.kind, f.polysemous = join("pq"), !strings.HasSuffix(s, "np")
		m := rePQ.FindStringSubmatch(s)
		return f.setPQ(m[1], m[2])
	case rePQR.MatchString(s):
		f.kind, f.refine = join("pqr"), true
		return f.setPQ(rePQR.FindStringSubmatch(s)[1], "")
	case reLSH.MatchString(s):
		f.kind = join("lsh")
	case reAdditive.MatchString(s):
		f.kind = join("additive")
	default:
		f.kind = "other"
	}
	return nil
}

func (f *factory) setPQ(m, bits string) error {
	var err error
	if f.pqM, err = number(m); err != nil {
		return err
	}
	f.pqBits = 8
	if bits != "" {
		f.pqBits, err = number(bits)
	}
	return err
}

// number reads a count, which FAISS keeps in an int and needs to be positive.
func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s is not a number from 1 to 2147483647", s)
	}
	return n, nil
}

// cutOutside cuts at the first comma that is not within parentheses.
func cutOutside(s string) (head, tail string) {
	depth := 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// divisorsNear names the divisors of dim next to m.
func divisorsNear(dim, m int64) string {
	below, above := int64(1), dim
	for d := int64(1); d <= dim; d++ {
		switch {
		case dim%d != 0:
		case d < m:
			below = d
		case d > m:
			above = d
			return fmt.Sprintf("%d or %d", below, above)
		}
	}
	return fmt.Sprint(below)
}
