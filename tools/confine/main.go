// Command confine reports every place in Go code, outside of commands (package main) and of tests, that prints to the
// standard streams or ends the process. It exits with 1 if there is any.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// forbidden maps import paths to the functions that only a command may call.
func forbidden() map[string][]string {
	return map[string][]string{
		"fmt": {"Print", "Printf", "Println"},
		"os":  {"Exit"},
		"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: confine FOLDER")
		os.Exit(2)
	}
	found, err := check(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "confine:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// check walks the Go files below root and returns one line for each call that is not allowed.
func check(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			hidden := rel != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"))
			if hidden || name == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		more, err := checkFile(path)
		found = append(found, more...)
		return err
	})
	return found, err
}

func checkFile(path string) ([]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("parsing %s", path), err)
	}
	if file.Name.Name == "main" {
		return nil, nil
	}
	calls := map[string][]string{} // by the name that the file gives the package
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", path, spec.Path.Value, err)
		}
		name := imported
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if functions, ok := forbidden()[imported]; ok {
			calls[name] = functions
		}
	}
	var found []string
	report := func(node ast.Node, what string) {
		found = append(found, fmt.Sprintf("%s: %s is for commands only; return a value or an error", set.Position(node.Pos()), what))
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr: // a call, and also a function passed on as a value
			if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(calls[pkg.Name], n.Sel.Name) {
				report(n, pkg.Name+"."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.Ident); ok && (fun.Name == "print" || fun.Name == "println") {
				report(n, fun.Name)
			}
		}
		return true
	})
	return found, nil
}
