package sweep

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerptHasTheCause(t *testing.T) {
	var stack strings.Builder
	for i := range 500 {
		fmt.Fprintf(&stack, "frame%d()\n\tfile.go:%d\n", i, i)
	}
	for name, c := range map[string]struct {
		printed string
		want    []string
		not     string
	}{
		"last lines":  {strings.Repeat("noise\n", 100) + "out of luck\n", []string{"out of luck"}, ""},
		"panic":       {"loading\npanic: broken\n\ngoroutine 1 [running]:\n" + stack.String(), []string{"loading", "panic: broken", "frame0"}, "frame400"},
		"C++":         {"terminate called after throwing an instance of 'x'\n  what():  too bad\nSIGABRT: abort\nPC=0x1 m=0\n" + stack.String(), []string{"too bad", "SIGABRT"}, "frame400"},
		"nothing":     {"", nil, "\n"},
		"not text":    {"\xff\xfe\x00 broken \xff\n", []string{"broken"}, ""},
		"a long line": {"panic: " + strings.Repeat("é", 5000), []string{"panic: "}, ""},
	} {
		got := excerpt(c.printed)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q does not say %q", name, got, w)
			}
		}
		if len(got) > maxExcerpt || !utf8.ValidString(got) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDeathsForWantOfMemory(t *testing.T) {
	const runtimeFault = "SIGSEGV: segmentation violation\nPC=0x4379bd m=3 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x78fa170ed20 m=3 mp=0x78fa176b008 [idle]:\nruntime.(*spanQueue).tryDrain(0x1)\n"
	const cgoFault = "SIGSEGV: segmentation violation\nPC=0x1 m=0 sigcode=1 addr=0x0\nsignal arrived during cgo execution\n\ngoroutine 1 gp=0x1 m=0 mp=0x1 [syscall]:\nruntime.cgocall(0x1)\n"
	for name, c := range map[string]struct {
		printed string
		limited bool
		want    string
	}{
		"heap":                     {"fatal error: runtime: out of memory\n", false, "killed"},
		"runtime":                  {"fatal error: runtime: cannot allocate memory\n", false, "killed"},
		"C++":                      {"terminate called after throwing an instance of 'std::bad_alloc'\n", false, "killed"},
		"runtime's own fault":      {runtimeFault, true, "killed"},
		"the same without a limit": {runtimeFault, false, "crashed"},
		"fault in C++":             {cgoFault, true, "crashed"},
		"panic":                    {"panic: broken\n", true, "crashed"},
	} {
		if got := died(errors.New("exit status 2"), c.printed, c.limited); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for limit := range 40 {
		text := strings.Repeat("aé€😀", 4)
		got := shorten(text, limit)
		if !utf8.ValidString(got) || limit >= len(" [...] ") && len(got) > limit {
			t.Errorf("limit %d gave %d bytes: %q", limit, len(got), got)
		}
		if limit >= len(text) && got != text {
			t.Errorf("a text of %d bytes was changed for the limit %d: %q", len(text), limit, got)
		}
	}
}

func TestErrorTextKeepsTheRemedy(t *testing.T) {
	got := errorText("build", errors.New(strings.Repeat("long ", 10_000)), statusCrashed)
	if len(got) > maxError || !strings.HasPrefix(got, "build: long") || !strings.HasSuffix(got, remedy(statusCrashed)) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
