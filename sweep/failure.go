package sweep

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// maxError bounds the column error, in bytes: a row must stay readable whatever an engine printed.
const maxError = 2000

// errorText is the column error: what was being done, what went wrong and what to do. It is what went wrong that is
// shortened if it must be.
func errorText(doing string, err error, status string) string {
	after := remedy(status)
	return doing + ": " + shorten(err.Error(), maxError-len(doing)-len(": ")-len(after)) + after
}

func remedy(status string) string {
	switch status {
	case statusTimeout:
		return "; raise limits.cell_time or make the index smaller"
	case statusKilled:
		return "; raise limits.memory if there is room, give fewer --jobs, or make the index smaller; the same command tries it again"
	case statusCrashed:
		return "; run `frontier engines` for known defects of this engine; the same command tries it again"
	}
	return ""
}

// died tells a process that the system killed, which it does for memory, or that was refused memory, from one that
// crashed by itself; limited says that its memory was bounded. The exit code says little: C++ code that crashes in a Go
// program ends it with 2.
func died(err error, printed string, limited bool) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGKILL {
			return "killed"
		}
	}
	for _, sign := range []string{"fatal error: runtime: out of memory", "fatal error: out of memory", "runtime: cannot allocate memory", "cannot allocate memory", "std::bad_alloc"} {
		if strings.Contains(printed, sign) {
			return "killed"
		}
	}
	if limited && refusedRuntime.MatchString(printed) {
		return "killed"
	}
	return "crashed"
}

// refusedRuntime is how Go's runtime may report that it was refused memory for itself: it uses the null pointer that it
// got, while a fault in C++ code says that the signal arrived during cgo execution.
var refusedRuntime = regexp.MustCompile(`(?m)^SIGSEGV: .*\n.*addr=0x0$\n\s*^goroutine 0 .*\nruntime\.`)

// linesBefore, linesAfter and linesAtEnd bound an excerpt: before the cause stands what a C++ library said last.
const (
	linesBefore = 5
	linesAfter  = 8
	linesAtEnd  = 12
	maxLine     = 300
	maxExcerpt  = 1200
)

// excerpt is the part of what a process printed that says why it died: the lines around the first that names a cause,
// for the rest of a crash report is stacks and registers, else the last lines.
func excerpt(printed string) string {
	lines := slices.DeleteFunc(strings.Split(printed, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	from, to := max(0, len(lines)-linesAtEnd), len(lines)
	if i := slices.IndexFunc(lines, isCause); i >= 0 {
		from, to = max(0, i-linesBefore), min(len(lines), i+linesAfter)
	}
	lines = slices.Clone(lines[from:to])
	for i, line := range lines {
		lines[i] = shorten(line, maxLine)
	}
	return shorten(strings.Join(lines, "\n"), maxExcerpt)
}

// isCause knows the lines with which Go's runtime begins to report a panic, a fault, or a fatal signal.
func isCause(line string) bool {
	for _, prefix := range []string{"panic: ", "fatal error: ", "unexpected fault address", "runtime: out of memory", "terminate called", "SIGSEGV: ", "SIGABRT: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// shorten takes the middle out of a text of more than limit bytes, so that its beginning and its end stay.
func shorten(text string, limit int) string {
	const gap = " [...] "
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	head := max(0, limit-len(gap)) * 2 / 3
	tail := len(text) - (max(0, limit-len(gap)) - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + gap + text[tail:]
}
