package sweep

import (
	"bufio"
	"fmt"
	"os"
)

// availableMemory is how much can be allocated without anything being swapped out, as the kernel sees it, in bytes; 0
// if it does not tell.
func availableMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
