package cost

import "fmt"

const gib = 1 << 30

// formatBytes prints a size in GiB, or in MiB below one of them.
func formatBytes(n int64) string {
	if n < gib {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}
