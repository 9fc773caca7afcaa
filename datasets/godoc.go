package datasets

import (
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// godocLayout is the version of the text that godocCorpus makes of a package.
const godocLayout = 1

// godocCorpus is the documentation of the standard library at root, one document a package, in order of import path.
// The platform is fixed to linux/amd64 without cgo, so that two users of one Go version have the same corpus.
type godocCorpus struct {
	root string
}

func (c *godocCorpus) Name() string { return GodocStd }

func (c *godocCorpus) Fingerprint() (string, error) {
	return fmt.Sprintf("%s layout %d %s %s", GodocStd, godocLayout, gorootVersion(c.root), c.root), nil
}

// Documents parses packages on all cores and yields them in order; as many as there are cores are in memory at once.
func (c *godocCorpus) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		paths, err := c.packages()
		if err != nil {
			yield(Document{}, err)
			return
		}
		platform := c.platform()
		ctx, cancel := context.WithCancel(ctx)
		var workers sync.WaitGroup
		defer workers.Wait()
		defer cancel()

		type parsed struct {
			doc *Document
			err error
		}
		// One slot for each package in flight; the order of the slots is the order of the documents.
		slots := make(chan chan parsed, runtime.GOMAXPROCS(0))
		workers.Go(func() {
			defer close(slots)
			for _, p := range paths {
				slot := make(chan parsed, 1)
				select {
				case slots <- slot:
				case <-ctx.Done():
					return
				}
				workers.Go(func() {
					d, err := c.load(platform, p)
					slot <- parsed{d, err}
				})
			}
		})

		for slot := range slots {
			got := <-slot
			if got.err != nil {
				yield(Document{}, got.err)
				return
			}
			if got.doc != nil && !yield(*got.doc, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Document{}, err)
		}
	}
}

// packages are the import paths of all folders that may hold a package that users can import, sorted.
func (c *godocCorpus) packages() ([]string, error) {
	var paths []string
	src, err := filepath.EvalSymlinks(filepath.Join(c.root, "src")) // Debian's is a link, which WalkDir would not walk into
	if err != nil {
		return nil, &Error{File: c.root, Msg: "cannot list the standard library", Err: err}
	}
	err = filepath.WalkDir(src, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() || p == src {
			return nil
		}
		rel, err := filepath.Rel(src, p)
		if err != nil {
			return err
		}
		name := entry.Name()
		if name == "internal" || name == "vendor" || name == "testdata" || rel == "cmd" || name[0] == '.' || name[0] == '_' {
			return filepath.SkipDir
		}
		paths = append(paths, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		return nil, &Error{File: src, Msg: "cannot list the standard library", Err: err}
	}
	slices.Sort(paths)
	return paths, nil
}

// load is the document of one package, or nil if the folder holds none for this platform.
func (c *godocCorpus) load(platform build.Context, importPath string) (*Document, error) {
	files, fset, err := c.parse(platform, importPath)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	var mode doc.Mode
	if importPath == "builtin" {
		mode = doc.AllDecls // its names are lower case
	}
	pkg, err := doc.NewFromFiles(fset, files, importPath, mode)
	if err != nil {
		return nil, &Error{File: c.dir(importPath), Msg: "cannot read the documentation", Err: err}
	}
	d, err := renderPackage(pkg, fset)
	if err != nil {
		return nil, &Error{File: c.dir(importPath), Msg: "cannot print the documentation", Err: err}
	}
	return d, nil
}

func (c *godocCorpus) dir(importPath string) string {
	return filepath.Join(c.root, "src", filepath.FromSlash(importPath))
}

// platform is what decides which files of a package count.
func (c *godocCorpus) platform() build.Context {
	p := build.Default
	p.GOROOT, p.GOPATH = c.root, ""
	p.GOOS, p.GOARCH, p.Compiler = "linux", "amd64", "gc"
	p.CgoEnabled, p.BuildTags, p.ToolTags = false, nil, nil
	p.ReleaseTags = releaseTags(gorootVersion(c.root))
	return p
}

// parse reads the files of a package that are built on the platform.
func (c *godocCorpus) parse(platform build.Context, importPath string) ([]*ast.File, *token.FileSet, error) {
	dir := c.dir(importPath)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, &Error{File: dir, Msg: "cannot read the package", Err: err}
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		match, err := platform.MatchFile(dir, name)
		if err != nil {
			return nil, nil, &Error{File: filepath.Join(dir, name), Msg: "cannot read the build constraint", Err: err}
		}
		if !match {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, &Error{
				Msg: "cannot parse the standard library", Err: err,
				Hint: "the installation is damaged, or newer than this program can read",
			}
		}
		if f.Name.Name == "main" || importsC(f) {
			continue
		}
		if len(files) > 0 && f.Name.Name != files[0].Name.Name {
			return nil, nil, &Error{
				File: filepath.Join(dir, name), Hint: "the Go installation is damaged",
				Msg: "package " + f.Name.Name + " in the folder of package " + files[0].Name.Name,
			}
		}
		files = append(files, f)
	}
	return files, fset, nil
}

func importsC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"C"` })
}
