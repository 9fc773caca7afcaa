package file

import (
	"errors"

	"frontier/internal/param"
)

const (
	maxCombinations     = 10_000  // that are tried of one entry
	maxAllCombinations  = 100_000 // that are tried of a file
	maxComplaintsOfItem = 5
)

// combinations calls try with the points of the grid over axes, and reports what it refuses at the place of the value
// that it blames, once for each value. A point's expressions have been replaced by numbers where the data is synthetic;
// elsewhere axes are cut down to their literals, since only the data gives the rest a value.
//
// label is the full name of the parameter of the i-th axis, or of one that is not an axis where i is -1.
func (d *decoder) combinations(axes []Axis, specs []*param.Spec, pos Pos, label func(i int, param string) string, try func([]Value) error) {
	known := d.known(axes, specs, label)
	if known == nil {
		return
	}
	type blamed struct {
		param string
		pos   Pos
		value string
	}
	seen := map[blamed]bool{}
	tried := 0
	for point := range Grid(known) {
		if tried++; tried > maxCombinations {
			return
		}
		if d.checked++; d.checked > maxAllCombinations {
			return
		}
		err := try(point)
		if err == nil {
			continue
		}
		at, where, msg := blamed{pos: pos}, label(-1, ""), err.Error()
		var wrong *param.Error
		if errors.As(err, &wrong) {
			at.param, where, msg = wrong.Param, label(-1, wrong.Param), wrong.Msg
			for i := len(known) - 1; i >= 0; i-- { // search parameters, which come last, win over building ones
				if known[i].Name == wrong.Param {
					at.pos, at.value, where = point[i].Pos, point[i].String(), label(i, wrong.Param)
					break
				}
			}
		}
		if !seen[at] && len(seen) < maxComplaintsOfItem {
			d.add(at.pos, where, msg, "")
		}
		seen[at] = true
	}
}

// known replaces expressions by their values where n and dim are known, and leaves them out otherwise. It returns nil
// if nothing can be tried: an axis has no known value, or an expression is out of range, which is reported.
func (d *decoder) known(axes []Axis, specs []*param.Spec, label func(int, string) string) []Axis {
	out := make([]Axis, len(axes))
	for i, a := range axes {
		out[i] = Axis{Name: a.Name, Pos: a.Pos}
		for _, v := range a.Values {
			if v.Expr != "" {
				if d.n < 0 || d.dim < 0 {
					continue
				}
				literal, err := v.Resolve(specs[i], d.n, d.dim)
				if err != nil {
					d.add(v.Pos, label(i, a.Name), err.Error(), "")
					return nil
				}
				v = Value{Literal: literal, Pos: v.Pos}
			}
			out[i].Values = append(out[i].Values, v)
		}
		if len(out[i].Values) == 0 {
			return nil
		}
	}
	return out
}

// specsOf are the specs of axes.
func specsOf(axes []Axis, specs []param.Spec) []*param.Spec {
	out := make([]*param.Spec, len(axes))
	for i, a := range axes {
		out[i] = param.Find(specs, a.Name)
	}
	return out
}
