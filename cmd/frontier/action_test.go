package main

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is what the test needs of action.yml.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Shell, Run string
			Env                            map[string]string
		}
	}
}

// ciFiles are a sweep of half a second, a baseline of it, and a policy, in a folder of their own. That a second sweep into
// one folder measures nothing again makes the tests quick.
func ciFiles(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	env = append(os.Environ(), "FRONTIER_CACHE="+filepath.Join(dir, "cache"))
	for name, text := range map[string]string{
		"retrieval/sweep.yaml": `
version: 1
build_threads: 1
vectors: {metric: l2, synthetic: {n: 300, dim: 8, clusters: 10, spread: 0.5, queries: 40}}
indexes: [{engine: flat}]
measure: {k: [10], rounds: 2, min_time: 2ms, warmup: 1ms, max_time: 20ms}
objectives: [ann_recall_at_10:max, qps:max]
`,
		"retrieval/gate.yaml": goodRules,
	} {
		put(t, filepath.Join(dir, name), text)
	}
	for _, args := range [][]string{
		{"sweep", "retrieval/sweep.yaml", "--out", "recorded"},
		{"gate", "--record", "recorded", "--policy", "retrieval/gate.yaml", "-o", "retrieval/baseline.json"},
	} {
		if out, code := inFolder(t, dir, env, "frontier", args...); code != 0 {
			t.Fatalf("frontier %q ends with %d:\n%s", args, code, out)
		}
	}
	return dir, env
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func inFolder(t *testing.T, dir string, env []string, name string, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

const (
	goodRules = "rules:\n  - {metric: ann_recall_at_10, max_drop: 0.01}\n  - {metric: index_bytes, max_rise: 2%}\n"
	badRules  = goodRules + "  - {metric: index_bytes, max: 10B}\n"
)

// The steps of the GitHub Action, run as plain shell: the verdict, the annotations, the summary and the exit code.
func TestActionSteps(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the steps are bash")
	}
	raw, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" {
		t.Fatalf("it runs %q", a.Runs.Using)
	}
	frontier, err := exec.LookPath("frontier")
	if err != nil {
		t.Fatal(err)
	}
	dir, env := ciFiles(t)
	for rules, want := range map[string]struct {
		verdict string
		code    int
	}{goodRules: {"pass", 0}, badRules: {"fail", 3}} {
		put(t, filepath.Join(dir, "retrieval", "gate.yaml"), rules)
		inputs := map[string]string{"sweep": "retrieval/sweep.yaml", "baseline": "retrieval/baseline.json", "policy": "retrieval/gate.yaml", "frontier": frontier}
		for name, in := range a.Inputs {
			if _, given := inputs[name]; !given {
				inputs[name] = in.Default
			}
		}
		outputs := map[string]string{} // of all steps, as "step.name"
		for _, name := range []string{"output-binary", "output-gate", "summary.md"} {
			os.Remove(filepath.Join(dir, name))
		}
		var printed strings.Builder
		code, ran := 0, 0
		for _, step := range a.Runs.Steps {
			if step.Run == "" {
				continue // an action of somebody else
			}
			if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
				t.Fatalf("step %s: inputs must reach bash by its environment", step.Name)
			}
			stepEnv := append(slices.Clone(env), "GITHUB_OUTPUT="+filepath.Join(dir, "output-"+step.ID), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"))
			for name, value := range step.Env {
				stepEnv = append(stepEnv, name+"="+expand(t, value, inputs, outputs))
			}
			out, stepCode := inFolder(t, dir, stepEnv, "bash", "--noprofile", "--norc", "-c", step.Run)
			printed.WriteString(out)
			ran++
			maps.Copy(outputs, outputsOf(dir, step.ID))
			if code = stepCode; code != 0 {
				break
			}
		}
		if code != want.code || outputs["gate.verdict"] != want.verdict || ran != 3 {
			t.Errorf("%s: %d steps ran, the last ended with %d; verdict %q\n%s", want.verdict, ran, code, outputs["gate.verdict"], printed.String())
		}
		if strings.Contains(printed.String(), "::error file=retrieval/gate.yaml,line=4,") != (want.code == 3) {
			t.Errorf("%s: annotations\n%s", want.verdict, printed.String())
		}
		summary, err := os.ReadFile(filepath.Join(dir, "summary.md"))
		if err != nil || !strings.Contains(string(summary), "### :") {
			t.Errorf("%s: summary %q, %v", want.verdict, summary, err)
		}
		for _, name := range []string{"gate.xml", "gate.json", "results.parquet"} {
			if _, err := os.Stat(filepath.Join(dir, inputs["out"], name)); err != nil {
				t.Errorf("%s: %v", want.verdict, err)
			}
		}
	}
}

// expand puts in what GitHub would.
func expand(t *testing.T, value string, inputs, outputs map[string]string) string {
	t.Helper()
	return regexp.MustCompile(`\$\{\{ *([a-z_.]+) *\}\}`).ReplaceAllStringFunc(value, func(text string) string {
		name := strings.Trim(text, "${ }")
		if input, ok := strings.CutPrefix(name, "inputs."); ok {
			v, known := inputs[input]
			if !known {
				t.Fatalf("there is no input %s", input)
			}
			return v
		}
		if output, ok := strings.CutPrefix(name, "steps."); ok {
			v, known := outputs[strings.Replace(output, ".outputs.", ".", 1)]
			if !known {
				t.Fatalf("no step before gives %s", output)
			}
			return v
		}
		if name == "github.action_path" {
			return "/action"
		}
		t.Fatalf("the test does not know %s", text)
		return ""
	})
}

// outputsOf reads what a step wrote to GITHUB_OUTPUT.
func outputsOf(dir, step string) map[string]string {
	raw, err := os.ReadFile(filepath.Join(dir, "output-"+step))
	if err != nil {
		return nil // it wrote nothing
	}
	out := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			out[step+"."+name] = value
		}
	}
	return out
}

// The lines of the example for GitLab, run as plain shell with its variables.
func TestGitLabExample(t *testing.T) {
	raw, err := os.ReadFile("../../examples/ci/gitlab.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Retrieval struct {
			Variables map[string]string
			Script    []string
			Artifacts struct{ Reports struct{ Junit string } }
		}
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	dir, env := ciFiles(t)
	env = append(env, "CI_PROJECT_DIR="+dir)
	for name, value := range file.Retrieval.Variables {
		env = append(env, name+"="+strings.ReplaceAll(value, "$CI_PROJECT_DIR", dir))
	}
	for rules, want := range map[string]int{goodRules: 0, badRules: 3} {
		put(t, filepath.Join(dir, "retrieval", "gate.yaml"), rules)
		out, code := inFolder(t, dir, env, "bash", "-e", "-o", "pipefail", "-c", strings.Join(file.Retrieval.Script, "\n"))
		if code != want {
			t.Errorf("it ends with %d, want %d:\n%s", code, want, out)
		}
		if _, err := os.Stat(filepath.Join(dir, file.Retrieval.Artifacts.Reports.Junit)); err != nil {
			t.Errorf("the report: %v", err)
		}
	}
}

// The example workflow gives the action inputs that it has, and all that it needs.
func TestGitHubExample(t *testing.T) {
	raw, err := os.ReadFile("../../examples/ci/github.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs struct {
			Gate struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &workflow); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile("../../action.yml"); err != nil {
		t.Fatal(err)
	}
	var a struct {
		Inputs map[string]struct{ Required bool }
	}
	if err := yaml.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	used := false
	for _, step := range workflow.Jobs.Gate.Steps {
		if !strings.HasPrefix(step.Uses, "OWNER/frontier@") {
			continue
		}
		used = true
		for name := range step.With {
			if _, ok := a.Inputs[name]; !ok {
				t.Errorf("the action has no input %s", name)
			}
		}
		for name, in := range a.Inputs {
			if _, given := step.With[name]; in.Required && !given {
				t.Errorf("the input %s is not given", name)
			}
		}
	}
	if !used {
		t.Error("the workflow does not use the action")
	}
}
