package cas

import "golang.org/x/sys/unix"

func mount(dir, options string) error { return unix.Mount("tmpfs", dir, "tmpfs", 0, options) }
func remountReadOnly(dir string) error {
	return unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "")
}
func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
