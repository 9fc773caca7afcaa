package main

import (
	"os"
	"testing"

	"frontier/sweep/cell"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the frontier command of the scripts, and the cell of its sweeps.
func TestMain(m *testing.M) {
	if os.Getenv(cell.Env) != "" { // a cell is started by the path of the executable, not by the command's name
		os.Exit(run())
	}
	testscript.Main(m, map[string]func(){"frontier": func() { os.Exit(run()) }, "frontier-peak": peak})
}

// TestScripts runs the command line as its users do. The scripts are in testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("FRONTIER_CACHE", env.WorkDir+"/cache")
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"vectors": writeVectors, "writerows": writeRows},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
