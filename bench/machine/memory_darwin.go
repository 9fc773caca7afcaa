package machine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// AnonymousBytes is not known on macOS without cgo; the error is errors.ErrUnsupported. PeakBytes is an upper bound.
func AnonymousBytes() (int64, error) { return 0, unsupported("anonymous memory") }

// MappedBytes is not known on macOS without cgo; the error is errors.ErrUnsupported.
func MappedBytes() (int64, error) { return 0, unsupported("mapped memory") }

// PeakBytes is the most memory that this process had in RAM since it started (ru_maxrss, in bytes on macOS).
func PeakBytes() (int64, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("reading this process's memory: %w", err)
	}
	return u.Maxrss, nil
}

// ResetPeak is not possible on macOS; the error is errors.ErrUnsupported.
func ResetPeak() error { return unsupported("resetting the peak of memory") }

func unsupported(what string) error {
	return fmt.Errorf("%s: %w on macOS", what, errors.ErrUnsupported)
}
