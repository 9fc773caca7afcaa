package results

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// maxWhere bounds the length of an expression; people type them.
const maxWhere = 16 << 10

// Where compiles an expression over columns, such as
//
//	ann_recall_at_10 >= 0.95 and engine in ["flat", "hnswlib"]
//
// into a filter of rows. The language is that of github.com/expr-lang/expr. A comparison with a column that is null is
// false, also with !=; "column == nil" asks for null itself. A yes/no column that is null counts as false. Where a
// function is given a null, the whole expression is false. Numbers may have units of time and size ("20ms", "1.5GiB").
// Unknown columns and comparisons of different types are errors that say where they stand.
func Where(expression string) (func(Row) (bool, error), error) {
	if len(expression) > maxWhere {
		return nil, fmt.Errorf("expression: it has %d characters; at most %d are read", len(expression), maxWhere)
	}
	fail := func(err error) error { return fmt.Errorf("expression %q: %w", expression, err) }
	columns, _, quantities, err := columnsOf(expression)
	if err != nil {
		return nil, fail(err)
	}
	known := func(params ...any) (any, error) {
		for _, p := range params {
			if p == nil {
				return false, nil
			}
		}
		return true, nil
	}
	truth := func(params ...any) (any, error) { return params[0] == true, nil }
	program, err := expr.Compile(quantities.plain,
		expr.Env(sampleEnv(columns)),
		expr.AsBool(),
		expr.Function(knownFunc, known, new(func(...any) bool)),
		expr.Function(truthFunc, truth, new(func(any) bool)),
		expr.Patch(nullSafe{columns}),
	)
	if err != nil {
		return nil, fail(err)
	}
	return func(r Row) (bool, error) {
		env := make(map[string]any, len(columns))
		anyNull := false
		for name, typ := range columns {
			v, ok := r[name]
			anyNull = anyNull || !ok
			env[name] = valueFor(typ, v)
		}
		out, err := expr.Run(program, env)
		if err != nil {
			if anyNull {
				return false, nil
			}
			return false, fmt.Errorf("expression %q, point %q: %w", expression, r.Text("point_id"), err)
		}
		return out == true, nil
	}, nil
}

// ColumnsOf are the columns that an expression for Where names, in the order of their first mention.
func ColumnsOf(expression string) ([]string, error) {
	columns, order, _, err := columnsOf(expression)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", expression, err)
	}
	return slices.DeleteFunc(order, func(name string) bool { _, ok := columns[name]; return !ok }), nil
}

// Names that no column has and no user would write.
const (
	knownFunc = "__known"
	truthFunc = "__truth"
)

// columnsOf are the columns that the expression names with their types, all names in the order of first mention, and the
// expression with its units resolved.
func columnsOf(expression string) (types map[string]Type, order []string, q quantities, err error) {
	if q, err = withUnits(expression); err != nil {
		return nil, nil, q, err
	}
	tree, err := parser.Parse(q.masked)
	if err != nil {
		return nil, nil, q, err
	}
	v := &identifiers{declared: map[string]bool{}, at: map[string]file.Location{}}
	ast.Walk(&tree.Node, v)
	c := newCatalogue()
	columns := map[string]Type{}
	for _, name := range v.order {
		if v.declared[name] {
			continue
		}
		i, _, ok := c.find(name)
		if !ok {
			return nil, nil, q, fmt.Errorf("character %d: %w", v.at[name].From+1, c.unknown(name))
		}
		columns[name] = c.columns[i].Type
	}
	return columns, v.order, q, q.checkColumns(c, columns)
}

type identifiers struct {
	order    []string
	at       map[string]file.Location
	declared map[string]bool
}

// Visit implements ast.Visitor.
func (v *identifiers) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if _, seen := v.at[n.Value]; !seen {
			v.at[n.Value] = n.Location()
			v.order = append(v.order, n.Value)
		}
	case *ast.VariableDeclaratorNode:
		v.declared[n.Name] = true
	}
}

// sampleEnv tells the compiler the types of the columns.
func sampleEnv(columns map[string]Type) map[string]any {
	env := make(map[string]any, len(columns))
	for name, typ := range columns {
		switch typ {
		case Int:
			env[name] = int64(0)
		case Float:
			env[name] = 0.0
		case Bool:
			env[name] = false
		case Time:
			env[name] = time.Time{}
		case Strings:
			env[name] = []string{}
		case FloatMap:
			env[name] = map[string]any{}
		default:
			env[name] = ""
		}
	}
	return env
}

// valueFor is the value that the expression sees: null lists and maps are empty ones, so that looking into them finds
// nothing.
func valueFor(typ Type, v any) any {
	switch typ {
	case FloatMap:
		m := map[string]any{}
		given, _ := v.(map[string]float64)
		for key, f := range given {
			m[key] = f
		}
		return m
	case Strings:
		if v == nil {
			return []string{}
		}
	case Bytes:
		if raw, ok := v.([]byte); ok {
			return string(raw)
		}
	}
	return v
}

// nullSafe rewrites comparisons so that they are false where a column in them is null, and yes/no columns so that null
// is no.
type nullSafe struct{ columns map[string]Type }

// Visit implements ast.Visitor.
func (p nullSafe) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		// Handled by the comparison, or by the operator that takes a condition.
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			p.condition(&n.Node)
		}
	case *ast.ConditionalNode:
		p.condition(&n.Cond)
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||":
			p.condition(&n.Left)
			p.condition(&n.Right)
		case "==", "!=":
			if !isNil(n.Left) && !isNil(n.Right) {
				p.guard(node)
			}
		case "<", "<=", ">", ">=", "in", "matches", "contains", "startsWith", "endsWith":
			p.guard(node)
		}
	}
}

func isNil(n ast.Node) bool {
	_, ok := n.(*ast.NilNode)
	return ok
}

// condition turns a bare yes/no column into one that is never null.
func (p nullSafe) condition(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok && p.columns[id.Value] == Bool {
		ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: truthFunc}, Arguments: []ast.Node{id}})
	}
}

// guard turns "l < r" into "known(columns of l and r) ? l < r : false".
func (p nullSafe) guard(node *ast.Node) {
	var operands operands
	operands.columns = p.columns
	ast.Walk(node, &operands)
	if len(operands.nodes) == 0 {
		return
	}
	ast.Patch(node, &ast.ConditionalNode{
		Cond: &ast.CallNode{Callee: &ast.IdentifierNode{Value: knownFunc}, Arguments: operands.nodes},
		Exp1: *node,
		Exp2: &ast.BoolNode{Value: false},
	})
}

// operands collects what may be null: columns, and entries of map columns.
type operands struct {
	columns map[string]Type
	nodes   []ast.Node
}

// Visit implements ast.Visitor.
func (o *operands) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if _, ok := o.columns[n.Value]; ok {
			o.nodes = append(o.nodes, n)
		}
	case *ast.MemberNode:
		id, ok := n.Node.(*ast.IdentifierNode)
		if _, constant := n.Property.(*ast.StringNode); ok && constant && o.columns[id.Value] == FloatMap {
			o.nodes = append(o.nodes, n)
		}
	}
}

// Choice is the best row under a condition.
type Choice struct {
	Index int // of the row
	// Overlapping are the rows that also meet the condition and whose 95% interval of the first objective reaches into
	// that of the best row: the measurement does not tell them apart. In order of the objective.
	Overlapping []int
}

// ErrNoChoice says that no row meets the condition.
var ErrNoChoice = errors.New("no measured point meets the condition")

// BestUnder is the row that is best in the first objective among the rows for which the expression holds, ties settled
// by the next objectives and then by order. Rows whose status is not ok, or that are null in the first objective, do
// not take part. The error is ErrNoChoice if none is left.
func BestUnder(rows []Row, objs []Objective, expression string) (Choice, error) {
	if err := checkObjectives(objs); err != nil {
		return Choice{}, err
	}
	where, err := Where(expression)
	if err != nil {
		return Choice{}, err
	}
	var fit []int
	for i, r := range rows {
		if _, ok := objs[0].cost(r); !ok || r.Text("status") != "ok" {
			continue
		}
		holds, err := where(r)
		if err != nil {
			return Choice{}, err
		}
		if holds {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return Choice{}, fmt.Errorf("%w %q; loosen it or widen the sweep", ErrNoChoice, strings.TrimSpace(expression))
	}
	sortByObjectives(rows, objs, fit)
	best := Choice{Index: fit[0]}
	for _, i := range fit[1:] {
		if overlap(rows[fit[0]], rows[i], objs[0].Column) {
			best.Overlapping = append(best.Overlapping, i)
		}
	}
	return best, nil
}

// overlap reports whether the intervals of two rows overlap, or their values are equal. A row without an interval
// stands for its value alone.
func overlap(a, b Row, column string) bool {
	al, ah := span(a, column)
	bl, bh := span(b, column)
	return al <= bh && bl <= ah
}

func span(r Row, column string) (low, high float64) {
	if low, high, ok := r.Interval(column); ok {
		return low, high
	}
	v, ok := r.Number(column)
	if !ok {
		return math.NaN(), math.NaN()
	}
	return v, v
}
