package file

import (
	"reflect"
	"strings"
	"testing"

	"frontier/internal/param"
)

func TestResolve(t *testing.T) {
	whole := &param.Spec{Name: "x", Type: param.Int, Min: 1, Max: 100_000}
	real := &param.Spec{Name: "x", Type: param.Float, Min: -10, Max: 1e6}
	amount := &param.Spec{Name: "x", Type: param.Amount}
	for _, c := range []struct {
		v      Value
		spec   *param.Spec
		n, dim int
		want   any
		err    string
	}{
		{Value{Expr: "4*sqrt(n)"}, whole, 10_000, -1, int64(400), ""},
		{Value{Expr: "4*sqrt(n)"}, whole, 1000, -1, int64(126), ""}, // 126.49
		{Value{Expr: "n/2"}, whole, 5, -1, int64(3), ""},            // 2.5 rounds up
		{Value{Expr: "1-n/2"}, real, 5, -1, -1.5, ""},
		{Value{Expr: "dim/8"}, whole, -1, 128, int64(16), ""},
		{Value{Expr: "min(n, dim, 7.5)"}, real, 9, 8, 7.5, ""},
		{Value{Expr: "max(n, dim)"}, whole, 9, 8, int64(9), ""},
		{Value{Expr: "n > 1000 ? pow(2, 4) : 8"}, whole, 1001, 8, int64(16), ""},
		{Value{Expr: "n > 1000 ? pow(2, 4) : 8"}, whole, 1000, 8, int64(8), ""},
		{Value{Expr: "floor(log2(n)) + ceil(ln(n))"}, whole, 1000, 8, int64(9 + 7), ""},
		{Value{Expr: "round(-2.5) + 4"}, real, 0, 0, 2.0, ""}, // half up: -2
		{Value{Expr: "2**3 + 7/2"}, real, 0, 0, 11.5, ""},
		{Value{Expr: "n/10"}, amount, 104, 0, "10", ""},
		{Value{Literal: int64(5)}, whole, -1, -1, int64(5), ""},
		{Value{Literal: "10%"}, amount, -1, -1, "10%", ""},
		{Value{Expr: "n"}, whole, -1, 8, nil, "uses n, the number of vectors, which is not known here"},
		{Value{Expr: "dim"}, whole, 8, -1, nil, "uses dim, the dimension, which is not known here"},
		{Value{Expr: "n-5"}, whole, 5, 8, nil, `expression "n-5" with n = 5 and dim = 8: 0 is out of range: 1 to 100000`},
		{Value{Expr: "1/(n-5)"}, real, 5, 8, nil, "not a finite number"},
		{Value{Expr: "sqrt(-n)"}, real, 5, 8, nil, "not a finite number"},
		{Value{Expr: "2**60*n"}, whole, 5, 8, nil, "too large for a whole number"},
		{Value{Expr: "foo"}, whole, 5, 8, nil, `"foo" is not a number`},
		{Value{Literal: int64(0)}, whole, 5, 8, nil, "out of range"},
	} {
		got, err := c.v.Resolve(c.spec, c.n, c.dim)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%s with n=%d dim=%d: %v (%T), %v, want %v", c.v, c.n, c.dim, got, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", c.v, err, c.err)
		}
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		expr   string
		n, dim bool
	}{{"", false, false}, {"4*sqrt(n)", true, false}, {"n+dim", true, true}, {"3", false, false}} {
		n, dim, err := Value{Expr: c.expr}.Needs()
		if n != c.n || dim != c.dim || err != nil {
			t.Errorf("%q: %v %v %v", c.expr, n, dim, err)
		}
	}
	if _, _, err := (Value{Expr: "m"}).Needs(); err == nil {
		t.Error("an unknown name is no error")
	}
}

func TestCompiledFilesAreComparable(t *testing.T) {
	path := folder(t)
	if a, b := mustParse(t, path, textSweep), mustParse(t, path, textSweep); !reflect.DeepEqual(a, b) {
		t.Error("the same file parsed twice is not equal")
	}
}

func TestRanges(t *testing.T) {
	path := folder(t)
	head := "version: 1\ndataset: {corpus: corpus.jsonl, queries: queries.jsonl}\nembedders: [{kind: hash}]\n"
	for _, c := range []struct{ src, want string }{
		{"{engine: bleve, k1: {from: 0, to: 1, steps: 11}}", "k1=0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"},
		{"{engine: hnswlib, M: {from: 8, to: 64, scale: log2}}", "M=8 16 32 64"},
		{"{engine: hnswlib, M: {from: 10, to: 1000, steps: 3, scale: log2}}", "M=10 100 1000"},
		{"{engine: hnswlib, M: {from: 2, to: 5, steps: 3}}", "M=2 4 5"}, // 3.5 rounds up
		{"{engine: hnswlib, M: [4, {from: 8, to: 16, steps: 3}, 2*32]}", "M=4 8 12 16 64"},
		{"{engine: hnswlib, ef_construction: {from: sqrt(n), to: 4*sqrt(n), steps: 3}}", "ef_construction=sqrt(n) (sqrt(n)) + ((4*sqrt(n)) - (sqrt(n))) * 1 / 2 4*sqrt(n)"},
	} {
		f, err := Parse(path, []byte(head+"indexes: ["+c.src+"]\n"), testRegistry(), nil)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := written(f.Indexes[0].Build[0]); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.src, got, c.want)
		}
	}
	f := mustParse(t, path, head+"indexes: [{engine: hnswlib, ef_construction: {from: sqrt(n), to: 4*sqrt(n), steps: 3, scale: log2}}]\n")
	spec := &param.Spec{Name: "ef_construction", Type: param.Int}
	var got []any
	for _, v := range f.Indexes[0].Build[0].Values {
		x, err := v.Resolve(spec, 10_000, 8)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	if !reflect.DeepEqual(got, []any{int64(100), int64(200), int64(400)}) {
		t.Errorf("range of expressions: %v", got)
	}
}

func TestPercentRange(t *testing.T) {
	f := mustParse(t, folder(t), textSweep, "chunkers=[{kind: recursive, size: 100, overlap: {from: 0%, to: 30%, steps: 4}}]")
	if got := written(f.Chunkers[0].Axes[1]); got != "overlap=0% 10% 20% 30%" {
		t.Error(got)
	}
}

func TestFill(t *testing.T) {
	got, err := Fill("IVF{nlist},PQ{m}x4", map[string]int64{"nlist": 64, "m": 8})
	if got != "IVF64,PQ8x4" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Fill("IVF{nlist},Flat", nil); err == nil {
		t.Error("a placeholder without a value is no error")
	}
	values, err := FillAll(param.Values{"factory": "IVF{nlist},Flat", "M": int64(3)}, param.Values{"nlist": int64(5)})
	if err != nil || !reflect.DeepEqual(values, param.Values{"factory": "IVF5,Flat", "M": int64(3)}) {
		t.Errorf("%v, %v", values, err)
	}
}
