package machine

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"
)

// ReadSettings asks the kernel of macOS, which tells less than that of Linux; root has no meaning here.
func ReadSettings(string) Settings {
	var s Settings
	logical := sysctl("hw.logicalcpu")
	s.OnlineCores = positive(int(logical))
	if physical := sysctl("hw.physicalcpu"); physical > 0 {
		s.ThreadsPerCore = positive(int(logical / physical))
	}
	for _, name := range []string{"hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"} {
		if s.LastLevelCache = positive(sysctl(name)); s.LastLevelCache != nil {
			break
		}
	}
	s.HighestClock = positive(float64(sysctl("hw.cpufrequency_max")))
	s.Platform, _ = unix.Sysctl("hw.model") // what the kernel does not tell stays empty
	s.readSwap()
	s.readLoad()
	return s
}

// readSwap reads the structure xsw_usage: total, available and used bytes, of 8 bytes each.
func (s *Settings) readSwap() {
	raw, err := unix.SysctlRaw("vm.swapusage")
	if err != nil || len(raw) < 24 {
		return
	}
	total, used := binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[16:])
	if total > math.MaxInt64 || used > total {
		return
	}
	t, u := int64(total), int64(used)
	s.SwapTotal, s.SwapUsed = &t, &u
}

// readLoad reads the structure loadavg: three numbers of 4 bytes, padding, and their scale of 8 bytes.
func (s *Settings) readLoad() {
	raw, err := unix.SysctlRaw("vm.loadavg")
	if err != nil || len(raw) < 24 {
		return
	}
	if scale := binary.LittleEndian.Uint64(raw[16:]); scale > 0 {
		load := float64(binary.LittleEndian.Uint32(raw)) / float64(scale)
		s.Load = &load
	}
}

// sysctl is a whole number of 4 or 8 bytes; 0 if the kernel does not tell.
func sysctl(name string) int64 {
	raw, err := unix.SysctlRaw(name)
	switch {
	case err != nil:
		return 0
	case len(raw) == 8:
		return int64(min(binary.LittleEndian.Uint64(raw), math.MaxInt64))
	case len(raw) == 4:
		return int64(binary.LittleEndian.Uint32(raw))
	}
	return 0
}
