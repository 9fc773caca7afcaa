package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"frontier/bench/machine"
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
			env.Setenv(machine.LockDirEnv, env.WorkDir) // no script asserts a time
			self, err := os.Executable()
			if err != nil {
				return err
			}
			env.Setenv("FRONTIER", self) // for ab --bin
			examples, err := filepath.Abs("../../examples")
			env.Setenv("EXAMPLES", examples)
			return err
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"vectors": writeVectors, "writerows": writeRows, "exits": exits},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits runs a command that is to end with an exit code: "exits 3 frontier gate ...".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	code := 0
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%v ended with %d, and not with %s", args[1:], code, args[0])
	}
}
