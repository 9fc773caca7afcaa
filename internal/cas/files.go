package cas

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// listFiles finds the files below root, with their sizes, by their paths within it. What is neither a file nor a folder
// is an error, or with anything, a file of size -1.
func listFiles(root string, anything bool) (map[string]int64, error) {
	files := map[string]int64{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			if !anything {
				return fmt.Errorf("%s is neither a file nor a folder, and an artifact can have nothing else", path)
			}
			files[rel] = -1
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[rel] = info.Size()
		return nil
	})
	return files, err
}

// listDirs finds root and the folders below it, the innermost first.
func listDirs(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	slices.Reverse(dirs)
	return dirs, err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
