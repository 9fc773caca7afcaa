package sweep

import (
	"errors"
	"fmt"
	"iter"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/sweep/file"
)

// variant is one index that can be built, with the search settings to try on it.
type variant struct {
	item     *file.Index
	engine   *indexes.Engine
	build    param.Values
	searches []param.Values
}

// hybridEngine is the name of the engine that is made of two others.
const hybridEngine = "hybrid"

// resolver turns the values of a sweep file into numbers, once the data that they depend on is known.
type resolver struct {
	file    *file.File
	engines []indexes.Engine
	n, dim  int // rows and dimension; -1 while not known
}

// items resolves the axes of a chunker or an embedder, in file order.
func (r resolver) items(specs []param.Spec, item file.Item) iter.Seq2[param.Values, error] {
	return func(yield func(param.Values, error) bool) {
		for combination := range file.Grid(item.Axes) {
			v, err := r.values(specs, item.Axes, combination)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// values are the parameters that one combination of an item's axes gives, defaults filled in.
func (r resolver) values(specs []param.Spec, axes []file.Axis, combination []file.Value) (param.Values, error) {
	given := param.Values{}
	for i, axis := range axes {
		spec := param.Find(specs, axis.Name)
		if spec == nil {
			return nil, r.fault(combination[i].Pos, axis.Name, fmt.Errorf("is not a parameter here"))
		}
		v, err := combination[i].Resolve(spec, r.n, r.dim)
		if err != nil {
			return nil, r.fault(combination[i].Pos, axis.Name, err)
		}
		given[axis.Name] = v
	}
	full, err := param.Complete(specs, given)
	if err != nil {
		return nil, r.attribute(err, axes, combination)
	}
	return full, nil
}

// variants resolves one index item that is not a hybrid and refuses what cannot be built or searched, before anything is.
func (r resolver) variants(item *file.Index) ([]variant, error) {
	engine := indexes.Find(r.engines, item.Engine)
	if engine == nil {
		return nil, r.fault(item.Pos, "engine", fmt.Errorf("no engine is called %q", item.Engine))
	}
	var all []variant
	var problems []error
	axes := append(append([]file.Axis{}, item.Build...), item.Template...)
	for combination := range file.Grid(axes) {
		build, err := r.values(engine.Params, item.Build, combination[:len(item.Build)])
		if err == nil {
			build, err = r.fill(build, item.Template, combination[len(item.Build):])
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		v := variant{item: item, engine: engine, build: build}
		for setting := range file.Grid(item.Search) {
			search, err := r.values(engine.Search, item.Search, setting)
			if err == nil && engine.Check != nil {
				if e := engine.Check(build, search, r.n, r.dim); e != nil {
					err = r.attribute(e, append(append([]file.Axis{}, axes...), item.Search...), append(append([]file.Value{}, combination...), setting...))
				}
			}
			if err != nil {
				problems = append(problems, err)
				continue
			}
			v.searches = append(v.searches, search)
		}
		all = append(all, v)
	}
	return all, firstProblems(problems)
}

// checkItems refuses what cannot be built from, or searched in, s.n rows of s.dim values.
func checkItems(f *file.File, engines []indexes.Engine, s size) error {
	var problems []error
	for i := range f.Indexes {
		parts := []file.Index{f.Indexes[i]}
		if f.Indexes[i].Engine == hybridEngine {
			parts = f.Indexes[i].Parts
		}
		for j := range parts {
			if lexical(&parts[j], engines) == (s.dim >= 0) {
				continue
			}
			if _, err := (resolver{f, engines, s.n, s.dim}).variants(&parts[j]); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return firstProblems(problems)
}

// fill replaces {name} in string parameters by the values of template axes.
func (r resolver) fill(build param.Values, axes []file.Axis, combination []file.Value) (param.Values, error) {
	given := param.Values{}
	for i, axis := range axes {
		v, err := combination[i].Resolve(file.TemplateSpec(axis.Name), r.n, r.dim)
		if err != nil {
			return nil, r.fault(combination[i].Pos, axis.Name, err)
		}
		given[axis.Name] = v
	}
	return file.FillAll(build, given)
}

// attribute gives an error about a parameter the place of the value that the parameter came from, or of the item.
func (r resolver) attribute(err error, axes []file.Axis, combination []file.Value) error {
	var wrong *param.Error
	if !errors.As(err, &wrong) {
		return err
	}
	for i, axis := range axes {
		if axis.Name == wrong.Param {
			return r.fault(combination[i].Pos, wrong.Param, errors.New(wrong.Msg))
		}
	}
	var pos file.Pos
	if len(axes) > 0 {
		pos = axes[0].Pos
	}
	return r.fault(pos, wrong.Param, errors.New(wrong.Msg))
}

// blame gives an error about a parameter of item, such as a dimension that the data does not have, its place in the file.
func (r resolver) blame(err error, item file.Item) error {
	var wrong *param.Error
	if !errors.As(err, &wrong) {
		return err
	}
	pos := item.Pos
	for _, axis := range item.Axes {
		if axis.Name == wrong.Param {
			pos = axis.Pos
		}
	}
	return r.fault(pos, item.Kind+"."+wrong.Param, errors.New(wrong.Msg))
}

func (r resolver) fault(pos file.Pos, name string, err error) error {
	var known *file.Error
	if errors.As(err, &known) {
		return err
	}
	return r.file.At(pos, name, err.Error(), "")
}

// maxProblems bounds how many faults of one kind are told at once.
const maxProblems = 20

func firstProblems(problems []error) error {
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", len(problems)-maxProblems))
	}
	return errors.Join(problems...)
}
