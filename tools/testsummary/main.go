// Command testsummary reads what "go test -json" prints. It passes on the lines that go test prints without -v, and
// closes with how many tests passed, failed and were skipped, and why those were skipped: without -v, go test hides
// skipped tests altogether. It exits with 1 if a test or a build failed, or if no test ran. A line of ours at the end,
// {"Action":"exit","Output":"137"}, says what go test ended with: if it was killed, no event does.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is one line of "go test -json"; see "go doc test2json".
type event struct {
	Action, Package, Test, Output string
}

type name struct{ pkg, test string }

type summary struct {
	passed, failed, skipped int
	exit                    string              // what go test ended with; "" if nobody said
	blamed                  map[string]bool     // packages of which a test failed
	output                  map[name][]string   // of the tests that have not ended
	reasons                 map[string][]string // why tests were skipped, and which
}

func main() {
	bad, err := run(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(2)
	}
	if bad {
		os.Exit(1)
	}
}

// run copies the events of in, and reports whether anything failed or nothing ran.
func run(in io.Reader, out io.Writer) (bool, error) {
	s := &summary{blamed: map[string]bool{}, output: map[name][]string{}, reasons: map[string][]string{}}
	w := bufio.NewWriter(out)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if jsonErr := json.Unmarshal(line, &e); jsonErr != nil {
				// go test itself may print lines of its own, such as an error about flags.
				fmt.Fprint(w, string(line))
			} else {
				s.add(e, w)
			}
			if err := w.Flush(); err != nil {
				return true, err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return true, err
		}
	}
	s.close(w)
	return s.failed > 0 || s.passed == 0 || s.broke(), w.Flush()
}

// broke says whether go test ended badly without a test or a build to blame.
func (s *summary) broke() bool { return s.failed == 0 && s.exit != "" && s.exit != "0" }

func (s *summary) add(e event, w io.Writer) {
	n := name{e.Package, e.Test}
	switch e.Action {
	case "exit":
		s.exit = e.Output
	case "build-output":
		fmt.Fprint(w, e.Output)
	case "output":
		if e.Test != "" {
			s.output[n] = append(s.output[n], e.Output)
			return
		}
		if e.Output != "PASS\n" && !strings.HasSuffix(e.Output, "[no test files]\n") {
			fmt.Fprint(w, e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e, w)
			return
		}
		switch e.Action {
		case "pass":
			s.passed++
		case "skip":
			s.skipped++
			reason := skipReason(s.output[n])
			s.reasons[reason] = append(s.reasons[reason], e.Package+"."+e.Test)
		case "fail":
			s.failed++
			s.blamed[e.Package] = true
			fmt.Fprint(w, strings.Join(s.output[n], ""))
		}
		delete(s.output, n)
	}
}

// endPackage prints what the tests that never ended had to say, as after a panic, and counts a package that failed
// with no test to blame: one that does not build, or a test that ended the process.
func (s *summary) endPackage(e event, w io.Writer) {
	if e.Action != "fail" {
		return
	}
	var open []name
	for n := range s.output {
		if n.pkg == e.Package {
			open = append(open, n)
		}
	}
	slices.SortFunc(open, func(a, b name) int { return strings.Compare(a.test, b.test) })
	for _, n := range open {
		fmt.Fprint(w, strings.Join(s.output[n], ""))
		delete(s.output, n)
	}
	if !s.blamed[e.Package] || len(open) > 0 {
		s.failed++
	}
}

// skipReason is what t.Skip said: the lines between "=== RUN" and "--- SKIP", without their place in the code.
func skipReason(lines []string) string {
	var said []string
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "===") || strings.HasPrefix(l, "---") || l == "" {
			continue
		}
		if _, after, ok := strings.Cut(l, ".go:"); ok {
			if _, text, ok := strings.Cut(after, ": "); ok {
				l = text
			}
		}
		said = append(said, l)
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

func (s *summary) close(w io.Writer) {
	reasons := make([]string, 0, len(s.reasons))
	for r := range s.reasons {
		reasons = append(reasons, r)
	}
	slices.Sort(reasons)
	for _, r := range reasons {
		tests := s.reasons[r]
		more := ""
		if len(tests) > 3 {
			more = fmt.Sprintf(" and %d more", len(tests)-3)
			tests = tests[:3]
		}
		fmt.Fprintf(w, "skipped %d: %s (%s%s)\n", len(s.reasons[r]), r, strings.Join(tests, ", "), more)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	if s.broke() {
		fmt.Fprintf(w, "go test ended with %s, and no test or build failed: it did not finish\n", s.exit)
	}
}
