package datasets

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// adviseSequential doubles what the system reads ahead.
func adviseSequential(f *os.File) error { return advise(f, 0, 0, unix.FADV_SEQUENTIAL) }

// adviseUncached is for systems that leave the page cache out for a whole file; here it is done as one goes.
func adviseUncached(*os.File) error { return nil }

// adviseDone drops a range of the file from the page cache.
func adviseDone(f *os.File, from, length int64) error {
	return advise(f, from, length, unix.FADV_DONTNEED)
}

// advise gives advice, which some file systems do not take; nothing but speed depends on it.
func advise(f *os.File, from, length int64, advice int) error {
	for {
		err := unix.Fadvise(int(f.Fd()), from, length, advice)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ESPIPE), errors.Is(err, unix.EOPNOTSUPP):
			return nil
		}
		return err
	}
}
