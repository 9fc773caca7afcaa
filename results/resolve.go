package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder says where a results folder keeps a kind of file.
type folder struct {
	whole string // the one file that holds everything; "" if there is none
	parts string // the sub-folder of its parts
}

// resolve turns files, results folders and globs into files. Of a folder it takes the whole file, unless a part is
// newer, which is so after a run was killed; else the parts; else, for the sub-folder itself, the files in it. Files
// whose names begin with a dot are unfinished.
func (l folder) resolve(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("no results were named; give a Parquet file, a results folder or a glob")
	}
	var files []string
	for _, p := range paths {
		found, err := l.resolveOne(p)
		if err != nil {
			return nil, fmt.Errorf("results %s: %w", p, err)
		}
		files = append(files, found...)
	}
	return files, nil
}

func (l folder) resolveOne(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return l.resolveDir(path)
	case err == nil:
		return []string{path}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !strings.ContainsAny(path, "*?["):
		return nil, fmt.Errorf("%w; give a Parquet file, a results folder or a glob", fs.ErrNotExist)
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range matches {
		if strings.HasPrefix(filepath.Base(m), ".") {
			continue
		}
		found, err := l.resolveOne(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("nothing matches: %w", fs.ErrNotExist)
	}
	return files, nil
}

func (l folder) resolveDir(dir string) ([]string, error) {
	parts, newest, err := partFiles(filepath.Join(dir, l.parts))
	if err != nil {
		return nil, err
	}
	if l.whole != "" {
		file := filepath.Join(dir, l.whole)
		info, err := os.Stat(file)
		switch {
		case err == nil && !newest.After(info.ModTime()):
			return []string{file}, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if len(parts) > 0 {
		return parts, nil
	}
	if parts, _, err = partFiles(dir); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("the folder holds no Parquet files, nor does its sub-folder %s; has its sweep finished a cell?", l.parts)
	}
	return parts, nil
}

// partFiles are the Parquet files in dir by name, and when the newest was written. A folder that does not exist holds
// none.
func partFiles(dir string) (files []string, newest time.Time, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, newest, nil
	}
	if err != nil {
		return nil, newest, err
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".parquet") {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a resumed run replaced it at this moment
		}
		if err != nil {
			return nil, newest, err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		files = append(files, filepath.Join(dir, name))
	}
	return files, newest, nil
}
