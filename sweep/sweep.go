// Package sweep turns a sweep file into a plan, and a plan into rows: it prepares every stage once, builds each index
// in a process of its own, and measures each alone.
package sweep

import (
	"os/exec"

	"frontier/results"
	"frontier/sweep/file"
)

// Options say how a sweep runs; none of them changes what is measured.
type Options struct {
	Out      string // the results folder
	Cache    string // the folder of prepared artifacts
	Jobs     int    // how much is prepared at once; at least 1
	Fresh    bool   // measure again what the results folder holds already
	Version  string // of the program, for the manifest
	Commit   string
	Registry file.Registry
	// Command starts this executable as a cell (see cell.Env).
	Command func() *exec.Cmd
	// BuildMark keeps apart in the cache what different executables build; "" for this one.
	BuildMark string
	// Like, if not nil, keeps of all points only those with the same parameters and the same load as this row.
	Like results.Row
	// Progress is told what goes on, from several goroutines. It may be nil.
	Progress func(Event)
}

// Event is a piece of news about a running sweep.
type Event struct {
	Stage  string // "corpus", "chunk", "embed", "truth", "build", "measure", "warning", "waiting", ...
	Detail string
	Done   int // finished units of the stage
	Total  int // 0 if unknown
	Cached bool
}

// Summary is how a sweep ended.
type Summary struct {
	RunID    string
	Out      string
	Points   int // rows in results.parquet
	Measured int // of them, measured now
	Reused   int // of them, found in the results folder
	Prepared int // artifacts made now
	Cached   int // artifacts found in the cache
	Failed   int // rows whose status is not ok
	Warnings []string
}
