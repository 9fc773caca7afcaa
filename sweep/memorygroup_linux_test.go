package sweep

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestMemoryGroup(t *testing.T) {
	g := newMemoryGroup(64 << 20)
	if g == nil {
		t.Skip("this process may not make control groups for memory")
	}
	defer g.close()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err := g.add(cmd.Process.Pid)
	procs, readErr := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil || readErr != nil || strings.TrimSpace(string(procs)) != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("the group holds %q, not %d: %v, %v", procs, cmd.Process.Pid, err, readErr)
	}
	g.close()
	if _, err := os.Stat(g.dir); err == nil {
		t.Errorf("%s is still there", g.dir)
	}
}
