package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		bad       bool
		want, not []string
	}{
		{
			name: "pass and skip",
			in: `{"Action":"output","Package":"p","Test":"A","Output":"=== RUN   A\n"}
{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:3: chatter\n"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"B","Output":"=== RUN   B\n"}
{"Action":"output","Package":"p","Test":"B","Output":"    x.go:20: data is absent: here\n"}
{"Action":"output","Package":"p","Test":"B","Output":"--- SKIP: B (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"B"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`,
			want: []string{"ok  \tp\t0.1s\n", "skipped 1: data is absent: here (p.B)\n", "\n1 passed, 0 failed, 1 skipped\n"},
			not:  []string{"chatter", "PASS"},
		},
		{
			name: "fail",
			in: `{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`,
			bad:  true,
			want: []string{"a_test.go:3: wrong\n", "FAIL\tp", "0 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "panic in a test that never ends",
			in: `{"Action":"pass","Package":"p","Test":"Z"}
{"Action":"output","Package":"p","Test":"A","Output":"panic: oh\n"}
{"Action":"fail","Package":"p"}
`,
			bad:  true,
			want: []string{"panic: oh\n", "1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "build",
			in: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
{"Action":"pass","Package":"q","Test":"A"}
`,
			bad:  true,
			want: []string{"p.go:1: undefined: x\n", "1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "failure outside of any test",
			in: `{"Action":"pass","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Output":"exit status 3\n"}
{"Action":"fail","Package":"p"}
`,
			bad:  true,
			want: []string{"exit status 3\n", "1 passed, 1 failed"},
		},
		{
			name: "killed",
			in:   "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"pass\",\"Pack\n{\"Action\":\"exit\",\"Output\":\"137\"}\n",
			bad:  true,
			want: []string{"1 passed, 0 failed", "go test ended with 137"},
		},
		{
			name: "ended well",
			in:   "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"A\"}\n\n{\"Action\":\"exit\",\"Output\":\"0\"}\n",
			want: []string{"1 passed, 0 failed, 0 skipped\n"},
			not:  []string{"ended with", "\n\n"},
		},
		{
			name: "failed and said so",
			in:   "{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"exit\",\"Output\":\"1\"}\n",
			bad:  true,
			want: []string{"0 passed, 1 failed"},
			not:  []string{"ended with"},
		},
		{name: "nothing", in: "go: no such package\n", bad: true, want: []string{"go: no such package\n", "0 passed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			bad, err := run(strings.NewReader(c.in), &out)
			if err != nil {
				t.Fatal(err)
			}
			if bad != c.bad {
				t.Errorf("bad = %v", bad)
			}
			for _, w := range c.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("lacks %q:\n%s", w, out.String())
				}
			}
			for _, w := range c.not {
				if strings.Contains(out.String(), w) {
					t.Errorf("has %q:\n%s", w, out.String())
				}
			}
		})
	}
}
