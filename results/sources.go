package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is the manifest of a run and where it was found.
type Source struct {
	Path     string // of the manifest, "" if it comes from no file
	Manifest *Manifest
	Queries  string // folder of the run's queries; "" if they are not at hand
}

// Sources reads the manifests that belong to paths as ReadRows takes them: those of results folders, and of the folders
// that named files lie in. Each is read once, in the order of the paths. A folder without one, and a path that does not
// exist, are passed over: ReadRows says what is wrong with the latter.
func Sources(paths ...string) ([]Source, error) {
	var out []Source
	for _, path := range paths {
		for _, dir := range manifestDirs(path) {
			file := filepath.Join(dir, ManifestFile)
			if slices.ContainsFunc(out, func(s Source) bool { return s.Path == file }) {
				continue
			}
			m, err := ReadManifest(dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, Source{file, m, filepath.Join(dir, "queries")})
		}
	}
	return out, nil
}

// manifestDirs are the folders whose manifests may describe what path names.
func manifestDirs(path string) []string {
	matches := []string{path}
	if _, err := os.Stat(path); err != nil && strings.ContainsAny(path, "*?[") {
		if found, err := filepath.Glob(path); err == nil { // a bad pattern is told by ReadRows
			matches = found
		}
	}
	var dirs []string
	for _, match := range matches {
		if info, err := os.Stat(match); err != nil {
			continue
		} else if !info.IsDir() {
			match = filepath.Dir(match)
		}
		if filepath.Base(match) == "parts" {
			match = filepath.Dir(match)
		}
		dirs = append(dirs, match)
	}
	return dirs
}
