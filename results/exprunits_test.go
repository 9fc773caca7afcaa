package results

import (
	"strings"
	"testing"
)

func TestExpressionUnits(t *testing.T) {
	for text, want := range map[string]string{
		`latency_p99_seconds<=20ms`:                  `latency_p99_seconds<=0.02`,
		`latency_p99_seconds < 1.5us or m > 3`:       `latency_p99_seconds < 0.0000015 or m > 3`,
		`index_bytes <= 1.5GiB && index_bytes > 2MB`: `index_bytes <= 1610612736 && index_bytes > 2000000`,
		`build_seconds < 2min`:                       `build_seconds < 120`,
		`build_seconds < 1_000ns`:                    `build_seconds < 0.000001`,
		`index_spec contains "20ms" and m in 1..5`:   `index_spec contains "20ms" and m in 1..5`,
		`name == 'a\'5s' and name != ` + "`5s`":      `name == 'a\'5s' and name != ` + "`5s`",
		`qps > 1e3 and m == 0x1f`:                    `qps > 1e3 and m == 0x1f`,
		`latency_p99_seconds < 2e1ms`:                `latency_p99_seconds < 0.02`,
	} {
		q, err := withUnits(text)
		if err != nil || q.plain != want || len(q.masked) != len(text) {
			t.Errorf("%s: %q (masked %q), %v; want %q", text, q.plain, q.masked, err, want)
		}
		if _, err := Where(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`latency_p99_seconds < 20mz`:                         `character 23: "mz" is no unit`,
		`recall_at_10 > 20ms`:                                `20ms is in seconds, and no column here is`,
		`latency_p99_seconds < 20MiB`:                        `20MiB is in bytes`,
		`latency_p99_seconds < 20ms and enginee == "flat"`:   `character 32: unknown column "enginee"`,
		`latency_p99_seconds < 1us and 'open`:                `literal not terminated`,
		`latency_p99_seconds < 20ms20 and latency_p99 > 5ns`: `is no unit`,
	} {
		if _, err := Where(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	row := Row{"latency_p99_seconds": 0.02}
	if where, err := Where("latency_p99_seconds <= 20ms"); err != nil {
		t.Error(err)
	} else if ok, err := where(row); !ok || err != nil {
		t.Errorf("0.02 s is not 20ms: %v", err)
	}
}
