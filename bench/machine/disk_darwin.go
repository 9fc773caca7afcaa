package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropCached tells the kernel to keep nothing of the file in memory from here on, so that it is read from the disk.
func dropCached(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_NOCACHE, 1)
	return err == nil
}

func fileSystemName(st *unix.Statfs_t) string { return unix.ByteSliceToString(st.Fstypename[:]) }
