package file

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	exprfile "github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"frontier/internal/param"
)

// maxExpr is the longest expression, in bytes.
const maxExpr = 1000

// environment is what an expression may name: n, the number of vectors, dim, their dimension, and functions of
// numbers. All arithmetic is in float64.
type environment struct {
	N     float64                        `expr:"n"`
	Dim   float64                        `expr:"dim"`
	Sqrt  func(float64) float64          `expr:"sqrt"`
	Log2  func(float64) float64          `expr:"log2"`
	Ln    func(float64) float64          `expr:"ln"`
	Pow   func(float64, float64) float64 `expr:"pow"`
	Min   func(...float64) float64       `expr:"min"`
	Max   func(...float64) float64       `expr:"max"`
	Round func(float64) float64          `expr:"round"`
	Floor func(float64) float64          `expr:"floor"`
	Ceil  func(float64) float64          `expr:"ceil"`
}

func functions() []string {
	return []string{"sqrt", "log2", "ln", "pow", "min", "max", "round", "floor", "ceil"}
}

func newEnvironment(n, dim int) environment {
	fold := func(f func(a, b float64) float64) func(...float64) float64 {
		return func(all ...float64) float64 {
			if len(all) == 0 {
				return math.NaN()
			}
			out := all[0]
			for _, v := range all[1:] {
				out = f(out, v)
			}
			return out
		}
	}
	return environment{
		N: float64(n), Dim: float64(dim),
		Sqrt: math.Sqrt, Log2: math.Log2, Ln: math.Log, Pow: math.Pow,
		Min: fold(math.Min), Max: fold(math.Max),
		Round: roundHalfUp, Floor: math.Floor, Ceil: math.Ceil,
	}
}

func roundHalfUp(f float64) float64 { return math.Floor(f + 0.5) }

// variables are the names that an expression uses besides functions.
type variables struct{ n, dim bool }

// program is a compiled expression.
type program struct {
	vm   *vm.Program
	uses variables
}

// exprError is a fault of an expression at a code point of its text, from 0.
type exprError struct {
	offset    int
	msg, hint string
}

func (e *exprError) Error() string { return e.msg }

// compile checks and compiles an expression. The error is an *exprError.
func compile(text string) (*program, error) {
	if len(text) > maxExpr {
		return nil, &exprError{0, fmt.Sprintf("this expression is longer than %d characters", maxExpr), ""}
	}
	inspect := &inspector{}
	compiled, err := expr.Compile(text,
		expr.Env(environment{}), expr.DisableAllBuiltins(), expr.DisableIfOperator(), expr.MaxNodes(500),
		expr.Patch(inspect), expr.AsFloat64())
	if inspect.err != nil { // says more than the compiler does
		return nil, inspect.err
	}
	if err != nil {
		out := &exprError{msg: "this is not a number, and as an expression it fails: " + err.Error()}
		var at *exprfile.Error
		if errors.As(err, &at) {
			out.msg = "this is not a number, and as an expression it fails: " + at.Message
			if at.Line == 1 {
				out.offset = at.Column
			}
		}
		switch {
		case strings.Count(text, "(") != strings.Count(text, ")"):
			out.hint = "within [ ] and { }, quote an expression that has a comma"
		case strings.HasSuffix(out.msg, "but got bool"):
			out.hint = "a condition chooses between numbers, for example n > 10000 ? 32 : 16"
		}
		return nil, out
	}
	return &program{compiled, inspect.uses}, nil
}

// inspector allows arithmetic, comparisons, the conditional operator and our functions, and nothing else of the
// expression language. It turns whole numbers into float64, so that arithmetic has one type.
type inspector struct {
	uses variables
	err  *exprError
}

func (v *inspector) fail(n ast.Node, msg, hint string) {
	if v.err == nil {
		v.err = &exprError{n.Location().From, msg, hint}
	}
}

// Visit looks at one node, its children first.
func (v *inspector) Visit(n *ast.Node) {
	switch node := (*n).(type) {
	case *ast.IntegerNode:
		float := &ast.FloatNode{Value: float64(node.Value)}
		ast.Patch(n, float)
	case *ast.FloatNode, *ast.BoolNode, *ast.ConditionalNode:
	case *ast.UnaryNode:
		if !slices.Contains([]string{"-", "+", "not", "!"}, node.Operator) {
			v.fail(node, fmt.Sprintf("the operator %s is not allowed in an expression", node.Operator), "")
		}
	case *ast.BinaryNode:
		allowed := []string{"+", "-", "*", "/", "**", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or", "&&", "||"}
		if !slices.Contains(allowed, node.Operator) {
			v.fail(node, fmt.Sprintf("the operator %s is not allowed in an expression", node.Operator), "use + - * / ** and comparisons")
		}
	case *ast.CallNode:
		if _, ok := node.Callee.(*ast.IdentifierNode); !ok {
			v.fail(node, "only the functions "+strings.Join(functions(), ", ")+" may be called", "")
		}
	case *ast.IdentifierNode:
		switch node.Value {
		case "n":
			v.uses.n = true
		case "dim":
			v.uses.dim = true
		default:
			if !slices.Contains(functions(), node.Value) {
				v.unknown(node)
			}
		}
	default:
		v.fail(node, "this is not allowed in an expression", "use numbers, n, dim, + - * / ** and the functions "+strings.Join(functions(), ", "))
	}
}

func (v *inspector) unknown(node *ast.IdentifierNode) {
	known := append(functions(), "n", "dim")
	hint := "an expression may use n, dim and the functions " + strings.Join(functions(), ", ")
	if near := param.Nearest(node.Value, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	v.fail(node, fmt.Sprintf("%q is not a number, and not a name that an expression knows", node.Value), hint)
}

func (p *program) run(n, dim int) (float64, error) {
	out, err := expr.Run(p.vm, newEnvironment(n, dim))
	if err != nil {
		return 0, err
	}
	f, ok := out.(float64)
	if !ok {
		return 0, fmt.Errorf("gives %v, which is not a number", out)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("gives %v, which is not a finite number", f)
	}
	return f, nil
}

// String is the value as it is written in a sweep file, without quotes.
func (v Value) String() string {
	if v.Expr != "" {
		return v.Expr
	}
	if f, ok := v.Literal.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v.Literal)
}

// Needs says whether Resolve needs the number of vectors and their dimension. A literal needs neither.
func (v Value) Needs() (n, dim bool, err error) {
	if v.Expr == "" {
		return false, false, nil
	}
	p, err := v.compiled()
	if err != nil {
		return false, false, fmt.Errorf("expression %q: %w", v.Expr, err)
	}
	return p.uses.n, p.uses.dim, nil
}

func (v Value) compiled() (*program, error) {
	if v.program != nil {
		return v.program, nil
	}
	return compile(v.Expr)
}

// Resolve is the value for n vectors of dim values, of the Go type of spec and within its range. Where a whole number
// is asked for, the value of an expression is rounded half up. n and dim may be -1 for what is not known; using one of
// these is an error. Errors say what the expression gave, and the caller knows its place.
func (v Value) Resolve(spec *param.Spec, n, dim int) (any, error) {
	if v.Expr == "" {
		return spec.Check(v.Literal)
	}
	p, err := v.compiled()
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", v.Expr, err)
	}
	switch {
	case p.uses.n && n < 0:
		return nil, fmt.Errorf("expression %q uses n, the number of vectors, which is not known here", v.Expr)
	case p.uses.dim && dim < 0:
		return nil, fmt.Errorf("expression %q uses dim, the dimension, which is not known here", v.Expr)
	}
	f, err := p.run(n, dim)
	if err != nil {
		return nil, fmt.Errorf("expression %q with n = %d and dim = %d: %w", v.Expr, n, dim, err)
	}
	if spec.Type != param.Float {
		f = roundHalfUp(f)
	}
	out, err := checkNumber(spec, f)
	if err != nil {
		return nil, fmt.Errorf("expression %q with n = %d and dim = %d: %w", v.Expr, n, dim, err)
	}
	return out, nil
}

// maxExact is the largest whole number up to which float64 holds every whole number.
const maxExact = 1 << 53

// checkNumber is spec.Check for numbers, whole ones only as far as they are exact.
func checkNumber(spec *param.Spec, f float64) (any, error) {
	if spec.Type != param.Float && math.Abs(f) > maxExact {
		return nil, fmt.Errorf("%v is too large for a whole number", f)
	}
	return spec.Check(f)
}
