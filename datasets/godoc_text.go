package datasets

import (
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"unicode/utf8"
)

// OverviewSection is the id of the section of a godoc document that holds the package comment.
const OverviewSection = "overview"

// packageText grows the text of a package and its sections together.
type packageText struct {
	pkg      *doc.Package
	fset     *token.FileSet
	text     strings.Builder
	points   int // code points in text
	sections []Section
}

// renderPackage prints a package as "go doc -all" does, without indentation: the package comment, constants,
// variables, functions, and types with what belongs to them, each declaration followed by its comment. The sections
// are "overview", the exported names, and "Type.Method" for methods, those of interfaces included. The section of a
// constant or variable that is declared in a group is its own lines of that group; the section of a type is its
// declaration, fields included, and its comment.
func renderPackage(pkg *doc.Package, fset *token.FileSet) (*Document, error) {
	w := &packageText{pkg: pkg, fset: fset}
	w.write("package " + pkg.Name + " // import \"" + pkg.ImportPath + "\"\n")
	if comment := w.comment(pkg.Doc); comment != "" {
		w.write("\n" + comment)
	}
	w.section(OverviewSection, 0)

	if err := w.values(pkg.Consts, pkg.Vars); err != nil {
		return nil, err
	}
	if err := w.funcs(pkg.Funcs); err != nil {
		return nil, err
	}
	for _, t := range pkg.Types {
		if err := w.typ(t); err != nil {
			return nil, err
		}
	}
	title := "package " + pkg.Name
	if synopsis := pkg.Synopsis(pkg.Doc); synopsis != "" {
		title += ": " + synopsis
	}
	return &Document{ID: pkg.ImportPath, Title: title, Text: w.text.String(), Sections: w.sections}, nil
}

func (w *packageText) write(s string) {
	w.text.WriteString(s)
	w.points += utf8.RuneCountInString(s)
}

// section ends the section called id, which began at code point start, at the end of the text, the last newline left
// out.
func (w *packageText) section(id string, start int) {
	w.sections = append(w.sections, Section{ID: id, Start: start, End: w.points - 1})
}

func (w *packageText) comment(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return string(w.pkg.Text(text))
}

// declare writes a blank line, the declaration and its comment; it returns the declaration's text and where it starts.
func (w *packageText) declare(node ast.Node, comment string) (source string, start int, err error) {
	var b strings.Builder
	if err := format.Node(&b, w.fset, node); err != nil {
		return "", 0, err
	}
	source = b.String()
	w.write("\n")
	start = w.points
	w.write(source)
	w.write("\n")
	w.write(w.comment(comment))
	return source, start, nil
}

func (w *packageText) values(groups ...[]*doc.Value) error {
	for _, group := range groups {
		for _, v := range group {
			source, start, err := w.declare(v.Decl, v.Doc)
			if err != nil {
				return err
			}
			if !v.Decl.Lparen.IsValid() {
				for _, name := range v.Names {
					w.section(name, start)
				}
				continue
			}
			if err := w.inside(source, start, func(n ast.Node) (parts []namedNode) {
				if spec, ok := n.(*ast.ValueSpec); ok {
					for _, name := range spec.Names {
						if name.Name != "_" {
							parts = append(parts, namedNode{name.Name, spec, spec.Doc, spec.Comment})
						}
					}
				}
				return parts
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *packageText) funcs(funcs []*doc.Func) error {
	for _, f := range funcs {
		_, start, err := w.declare(f.Decl, f.Doc)
		if err != nil {
			return err
		}
		id := f.Name
		if f.Recv != "" {
			id = receiverType(f.Recv) + "." + f.Name
		}
		w.section(id, start)
	}
	return nil
}

// receiverType is the name of the type in a receiver such as "*Pointer[T]".
func receiverType(recv string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(recv, "*"), "[")
	return name
}

func (w *packageText) typ(t *doc.Type) error {
	source, start, err := w.declare(t.Decl, t.Doc)
	if err != nil {
		return err
	}
	w.section(t.Name, start)
	if err := w.inside(source, start, func(n ast.Node) (parts []namedNode) {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return nil
		}
		if methods, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range methods.Methods.List {
				for _, name := range m.Names { // embedded interfaces and constraints have none
					if name.IsExported() {
						parts = append(parts, namedNode{t.Name + "." + name.Name, m, m.Doc, m.Comment})
					}
				}
			}
		}
		return parts
	}); err != nil {
		return err
	}
	if err := w.values(t.Consts, t.Vars); err != nil {
		return err
	}
	if err := w.funcs(t.Funcs); err != nil {
		return err
	}
	return w.funcs(t.Methods)
}

// namedNode is a part of a declaration that is a section of its own, with the comments that belong to it.
type namedNode struct {
	id           string
	node         ast.Node
	above, aside *ast.CommentGroup
}

// inside makes sections of parts of a declaration that was written at code point start. The printed source is parsed
// again, since only its positions are those of the text.
func (w *packageText) inside(source string, start int, parts func(ast.Node) []namedNode) error {
	const header = "package p\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", header+source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	file := fset.File(f.Pos())
	at, counted := 0, 0 // counted code points before byte at: sections come in order, so each byte is counted about once
	points := func(p token.Pos) int {
		offset := file.Offset(p) - len(header)
		if offset < at {
			at, counted = 0, 0
		}
		counted += utf8.RuneCountInString(source[at:offset])
		at = offset
		return start + counted
	}
	ast.Inspect(f, func(n ast.Node) bool {
		for _, part := range parts(n) {
			from, to := part.node.Pos(), part.node.End()
			if part.above != nil {
				from = part.above.Pos()
			}
			if part.aside != nil {
				to = part.aside.End()
			}
			w.sections = append(w.sections, Section{ID: part.id, Start: points(from), End: points(to)})
		}
		return true
	})
	return nil
}
