package machine

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// parseKilobytes finds "key:   123 kB" in a file such as /proc/self/status and gives it in bytes.
func parseKilobytes(raw []byte, key string) (int64, error) {
	for line := range bytes.Lines(raw) {
		rest, ok := bytes.CutPrefix(line, []byte(key+":"))
		if !ok {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) != 2 || string(fields[1]) != "kB" {
			return 0, fmt.Errorf("%s is %q rather than a number of kB", key, bytes.TrimSpace(rest))
		}
		n, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/1024 {
			return 0, fmt.Errorf("%s is %q, which is not a size", key, fields[0])
		}
		return n * 1024, nil
	}
	return 0, fmt.Errorf("there is no %s", key)
}
