package gate

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The elements of a JUnit report, as Jenkins' xUnit plugin, GitLab and others read it: a suite for each rule, a case for
// each point. A warning is a case that passed, with the doubt in its output.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		Class     string        `xml:"classname,attr"`
		Failure   *junitFailure `xml:"failure,omitempty"`
		SystemOut string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

func (r *Result) junit(w *bufio.Writer) error {
	out := junitSuites{Name: "frontier gate", Tests: len(r.Decisions), Failures: r.Count(Fail)}
	for i := range r.Policy.Rules {
		rule := &r.Policy.Rules[i]
		s := junitSuite{Name: printable(rule.String())}
		for j := range r.Decisions {
			d := &r.Decisions[j]
			if d.Rule != rule {
				continue
			}
			c := junitCase{Name: printable(d.pointName()), Class: printable(r.Policy.Path + "." + rule.Metric.Name)}
			text := string(d.Outcome)
			if figures := r.figures(d); figures != "" {
				text += ": " + figures
			}
			if d.Verdict == Fail {
				s.Failures++
				why := d.Why
				if len(d.Lost) > 0 {
					why += "\nlost: " + abridged(d.Lost, 30)
				}
				c.Failure = &junitFailure{Message: printable(oneLine(text)), Type: string(d.Outcome), Text: printable(fmt.Sprintf("%s\n%s:%d", why, r.Policy.Path, rule.Line))}
			} else {
				c.SystemOut = printable(string(d.Verdict) + ": " + text + ". " + d.Why)
			}
			s.Cases = append(s.Cases, c)
		}
		s.Tests = len(s.Cases)
		out.Suites = append(out.Suites, s)
	}
	if _, err := w.WriteString(xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// printable leaves out what XML cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text)
}
