package gate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// verdicts are results of each kind, with texts that formats must escape.
func verdicts(t *testing.T) map[string]*Result {
	t.Helper()
	base, next := newSample("base"), newSample("next")
	next.point("hnsw64").lose(30)
	next.point("hnsw16").lose(3)
	next.point("flat").slower(1.3)
	next.dropped["bleve"] = true
	for _, p := range next.points {
		p.row["engine_version"] = "2 <b>|`x`\n100%"
	}
	next.cases[0].id, base.cases[0].id = "q|0<&>\"\x01,", "q|0<&>\"\x01,"
	policy := "match: [engine, index_spec, ef_search]" + wide + "  - {metric: recall_at_10, slice: {scenario: exact_entity}, min: 0.90}\n"
	return map[string]*Result{
		"fail": judged(t, policy, base, next),
		"pass": judged(t, wide, newSample("base"), newSample("next")),
		"warn": judged(t, "rules: [{metric: recall_at_10, max_drop: 0.01, where: 'ef_search == 16', on_null: warn}]", base, next),
	}
}

func written(t *testing.T, r *Result, format string, colour bool) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, format, colour); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGoldenFormats(t *testing.T) {
	r := verdicts(t)["fail"]
	for format, file := range map[string]string{"text": "fail.txt", "markdown": "fail.md", "github": "fail.github", "junit": "fail.xml"} {
		got := written(t, r, format, false)
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s; if that is meant, go test -update ./results/gate. Now:\n%s", format, path, got)
		}
	}
}

func TestColour(t *testing.T) {
	for name, r := range verdicts(t) {
		plain, colour := written(t, r, "text", false), written(t, r, "text", true)
		if strings.Contains(plain, "\x1b") || !strings.Contains(colour, "\x1b[") {
			t.Errorf("%s: colours are in the wrong one", name)
		}
		if regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colour, "") != plain {
			t.Errorf("%s: colours change the text", name)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	err := verdicts(t)["pass"].Write(&bytes.Buffer{}, "jnuit", false)
	if err == nil || !strings.Contains(err.Error(), `did you mean "junit"?`) {
		t.Errorf("error %v", err)
	}
}

// Each line is a workflow command as GitHub reads it, about a line of the policy, and counts agree.
func TestGitHubCommands(t *testing.T) {
	command := regexp.MustCompile(`^::(error|warning|notice) (file=gate\.yaml(,line=\d+,col=\d+)?(,title=[^:,\r\n]+)?|title=frontier gate)::[^\r\n]+$`)
	for name, r := range verdicts(t) {
		errors := 0
		for line := range strings.Lines(written(t, r, "github", false)) {
			line = strings.TrimSuffix(line, "\n")
			if !command.MatchString(line) {
				t.Errorf("%s: not a workflow command: %q", name, line)
			}
			if strings.HasPrefix(line, "::error") {
				errors++
			}
		}
		if (errors > 0) != (r.Verdict == Fail) {
			t.Errorf("%s: %d errors for %s", name, errors, r.Verdict)
		}
	}
}

// The report is well-formed, its counts are those of its cases, and it holds to the schema in testdata where xmllint is
// there to say so.
func TestJUnit(t *testing.T) {
	lint, lintErr := exec.LookPath("xmllint")
	for name, r := range verdicts(t) {
		text := written(t, r, "junit", false)
		var suites junitSuites
		if err := xml.Unmarshal([]byte(text), &suites); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tests, failures := 0, 0
		for _, s := range suites.Suites {
			bad := 0
			for _, c := range s.Cases {
				if c.Failure != nil {
					bad++
				}
			}
			if s.Tests != len(s.Cases) || s.Failures != bad {
				t.Errorf("%s: suite %s counts %d tests and %d failures, and has %d and %d", name, s.Name, s.Tests, s.Failures, len(s.Cases), bad)
			}
			tests, failures = tests+s.Tests, failures+bad
		}
		if suites.Tests != tests || suites.Failures != failures || tests != len(r.Decisions) || failures != r.Count(Fail) {
			t.Errorf("%s: %d tests and %d failures in all, of %d and %d", name, suites.Tests, suites.Failures, tests, failures)
		}
		if lintErr != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "junit.xml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(lint, "--noout", "--schema", "testdata/junit.xsd", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if lintErr != nil {
		t.Skip("xmllint is not installed, so the reports were not held against testdata/junit.xsd; apt-get install libxml2-utils")
	}
}

func TestJSONHoldsToItsSchema(t *testing.T) {
	schema := schemaOf(t, ResultSchema)
	for name, r := range verdicts(t) {
		var v map[string]any
		if err := json.Unmarshal([]byte(written(t, r, "json", false)), &v); err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, schema, v, "result"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v["verdict"] != string(r.Verdict) || len(v["decisions"].([]any)) != len(r.Decisions) {
			t.Errorf("%s: %v with %d decisions", name, v["verdict"], len(v["decisions"].([]any)))
		}
		v["verdict"] = "maybe"
		if validate(schema, schema, v, "result") == nil {
			t.Errorf("%s: the schema takes a verdict that there is not", name)
		}
	}
}

// Tables of Markdown keep their columns whatever the texts hold, and what is folded is unfolded again.
func TestMarkdownIsWhole(t *testing.T) {
	for name, r := range verdicts(t) {
		text := written(t, r, "markdown", false)
		if strings.Count(text, "<details>") != strings.Count(text, "</details>") || strings.Contains(text, "<b>") {
			t.Errorf("%s: tags do not match:\n%s", name, text)
		}
		columns := 0
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if columns > 0 && n != columns {
				t.Errorf("%s: a row with %d bars in a table of %d: %s", name, n, columns, line)
			}
			columns = n
		}
	}
}
