package machine

import (
	"math"

	"golang.org/x/sys/unix"
)

func (f *Fingerprint) readPlatform() {
	// What the kernel does not tell stays empty.
	f.CPU, _ = unix.Sysctl("machdep.cpu.brand_string")
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil && n <= math.MaxInt64 {
		f.Memory = int64(n)
	}
	if n, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil {
		f.Virtual = n != 0
	}
}
