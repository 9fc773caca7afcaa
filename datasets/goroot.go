package datasets

import (
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// findGoroot is the folder of the user's Go installation: $GOROOT, else what the go command says, else where this
// program's own toolchain was.
func findGoroot() (string, error) {
	if root := os.Getenv("GOROOT"); root != "" {
		if !holdsStd(root) {
			return "", &Error{
				Msg:  "GOROOT is set to " + root + ", which holds no source of the standard library (src/fmt/print.go)",
				Hint: "unset GOROOT or set it to a Go installation",
			}
		}
		return root, nil
	}
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		if root := strings.TrimSpace(string(out)); holdsStd(root) {
			return root, nil
		}
	}
	if root := build.Default.GOROOT; holdsStd(root) {
		return root, nil
	}
	return "", &Error{
		Msg:  GodocStd + " needs a Go installation with its source, and none was found",
		Hint: "install Go and put the go command on PATH, or set GOROOT",
	}
}

func holdsStd(root string) bool {
	if root == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(root, "src", "fmt", "print.go"))
	return err == nil && info.Mode().IsRegular()
}

// gorootVersion is the version of the installation at root, such as "go1.26.0", or "devel" for a source tree that
// says none.
func gorootVersion(root string) string {
	for _, name := range []string{"VERSION", "VERSION.cache"} {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(string(raw), "\n")
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "devel"
}

// releaseTags are the go1.x build tags that hold for version: those of the installation that is read, not of the
// toolchain that built this program.
func releaseTags(version string) []string {
	rest, ok := strings.CutPrefix(version, "go1.")
	if ok {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			digits = len(rest)
		}
		if minor, err := strconv.Atoi(rest[:digits]); err == nil && minor < 1000 {
			tags := make([]string, 0, minor)
			for i := 1; i <= minor; i++ {
				tags = append(tags, "go1."+strconv.Itoa(i))
			}
			return tags
		}
	}
	return build.Default.ReleaseTags
}
