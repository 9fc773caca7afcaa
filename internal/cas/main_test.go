package cas

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary is also the other processes of the tests: these variables say what they do.
const (
	envRole  = "CAS_TEST_ROLE" // "build", "hold"
	envRoot  = "CAS_TEST_ROOT"
	envStep  = "CAS_TEST_STEP"  // build: the step at which it kills itself
	envCount = "CAS_TEST_COUNT" // build: how many artifacts
)

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case "build":
		os.Exit(childBuild())
	case "hold":
		os.Exit(childHold())
	}
	os.Exit(m.Run())
}

func child(t *testing.T, role, root string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), append(env, envRole+"="+role, envRoot+"="+root)...)
	cmd.Stderr = os.Stderr
	return cmd
}

func numbered(i int) Stage { return Stage{Name: "stage", Version: 1, Params: fmt.Sprintf("i=%d", i)} }

// content is an artifact with two files, one of them in a folder.
func content(i int) map[string]string {
	return map[string]string{
		"data":                         strings.Repeat(fmt.Sprintf("artifact %d\n", i), 100),
		filepath.Join("index", "part"): fmt.Sprintf("part of %d", i),
	}
}

func fill(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func builder(i int) func(context.Context, string) error {
	return func(_ context.Context, dir string) error { return fill(dir, content(i)) }
}

// childBuild makes artifacts and notes each that it built in a file of its own name. With a step, it kills itself there.
func childBuild() int {
	root := os.Getenv(envRoot)
	var fs fsys = osFS{}
	if step, err := strconv.Atoi(os.Getenv(envStep)); err == nil {
		fs = &edge{fsys: osFS{}, at: step, act: func(string) error {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			time.Sleep(time.Minute) // until the signal arrives
			return err
		}}
	}
	n, err := strconv.Atoi(os.Getenv(envCount))
	if err != nil {
		return 10
	}
	c, err := open(root, fs)
	if err != nil {
		return 11
	}
	built := ""
	for i := range n {
		a, err := c.Do(context.Background(), numbered(i), builder(i))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 12
		}
		if !a.Hit {
			built += fmt.Sprintln(i)
		}
		for name, want := range content(i) {
			if got, err := os.ReadFile(a.Path(name)); err != nil || string(got) != want {
				return 13
			}
		}
	}
	if _, err := fmt.Print(built); err != nil {
		return 14
	}
	return 0
}

// childHold uses the artifact 0, says so, and goes on using it until its input ends.
func childHold() int {
	c, err := Open(os.Getenv(envRoot))
	if err != nil {
		return 11
	}
	if _, ok := c.Lookup(numbered(0).Key()); !ok {
		return 12
	}
	if _, err := fmt.Println("using it"); err != nil {
		return 14
	}
	buf := make([]byte, 1)
	_, _ = os.Stdin.Read(buf)
	return 0
}

// edge is a file system that does something else at one step, or from one step on.
type edge struct {
	fsys
	at   int // the number of the step, from 0; -1 for none
	stop bool
	act  func(op string) error
	log  []string
}

func (e *edge) step(op, path string) error {
	n := len(e.log)
	e.log = append(e.log, op+" "+path)
	if n == e.at || e.stop && e.at >= 0 && n > e.at {
		return e.act(op)
	}
	return nil
}

func (e *edge) mkdir(path string) error {
	if err := e.step("mkdir", path); err != nil {
		return err
	}
	return e.fsys.mkdir(path)
}

func (e *edge) mkdirAll(path string) error {
	if err := e.step("mkdirAll", path); err != nil {
		return err
	}
	return e.fsys.mkdirAll(path)
}

func (e *edge) writeFile(path string, data []byte) error {
	if e.at == len(e.log) { // a failed write leaves some of it
		if err := e.fsys.writeFile(path, data[:len(data)/2]); err != nil {
			return err
		}
	}
	if err := e.step("writeFile", path); err != nil {
		return err
	}
	return e.fsys.writeFile(path, data)
}

func (e *edge) protect(path string) error {
	if err := e.step("protect", path); err != nil {
		return err
	}
	return e.fsys.protect(path)
}

func (e *edge) sync(path string) error {
	if err := e.step("sync", path); err != nil {
		return err
	}
	return e.fsys.sync(path)
}

func (e *edge) rename(from, to string) error {
	if err := e.step("rename", from+" "+to); err != nil {
		return err
	}
	return e.fsys.rename(from, to)
}

func (e *edge) removeAll(path string) error {
	if err := e.step("removeAll", path); err != nil {
		return err
	}
	return e.fsys.removeAll(path)
}

func mustOpen(t testing.TB, root string, options ...Option) *Cache {
	t.Helper()
	c, err := Open(root, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustDo(t testing.TB, c *Cache, i int) Artifact {
	t.Helper()
	a, err := c.Do(t.Context(), numbered(i), builder(i))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// requireContent fails unless the artifact has exactly the files of number i.
func requireContent(t *testing.T, a Artifact, i int) {
	t.Helper()
	files, err := listFiles(a.Dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(content(i))+1 {
		t.Errorf("the artifact has the files %v", files)
	}
	for name, want := range content(i) {
		if got, err := os.ReadFile(a.Path(name)); err != nil || string(got) != want {
			t.Errorf("%s has %.20q: %v", name, got, err)
		}
	}
}

// requireTidy fails if there is anything in tmp.
func requireTidy(t *testing.T, c *Cache) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(c.Root(), "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("tmp has %v: %v", left, err)
	}
}
