package machine

import (
	"fmt"
	"os"
)

const status = "/proc/self/status"

// AnonymousBytes is the memory of this process that no file backs and that is in RAM now: heaps, stacks, C++
// allocations (RssAnon). The Go heap keeps pages that it freed; call debug.FreeOSMemory first for what is in use.
func AnonymousBytes() (int64, error) { return statusBytes("RssAnon") }

// MappedBytes is the part of mapped files of this process that is in RAM now (RssFile), the executable included.
func MappedBytes() (int64, error) { return statusBytes("RssFile") }

// PeakBytes is the most memory that this process had in RAM since it started, or since ResetPeak (VmHWM). Unlike
// ru_maxrss it does not begin at the parent's peak.
func PeakBytes() (int64, error) { return statusBytes("VmHWM") }

// ResetPeak makes PeakBytes begin again at what is in RAM now. It needs leave to write /proc/self/clear_refs, which
// some containers do not give.
func ResetPeak() error {
	// 5 is the request to reset the peak, see proc(5).
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("resetting the peak of memory: %w", err)
	}
	return nil
}

func statusBytes(key string) (int64, error) {
	raw, err := os.ReadFile(status)
	if err != nil {
		return 0, fmt.Errorf("reading this process's memory: %w", err)
	}
	n, err := parseKilobytes(raw, key)
	if err != nil {
		return 0, fmt.Errorf("reading this process's memory: %s: %w", status, err)
	}
	return n, nil
}
