// Package machine says what a measurement ran on, how quiet it was there, and how much memory this process uses.
package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Fingerprint is the machine and the software that measurements depend on. What cannot be read is "" or 0.
type Fingerprint struct {
	CPU            string  `json:"cpu"`             // model, as the processor names itself
	Cores          int     `json:"cores"`           // logical cores that this process may use
	CPULimit       float64 `json:"cpu_limit"`       // cores' worth of time that a control group allows; 0 is no limit
	Memory         int64   `json:"memory_bytes"`    // of the machine
	MemoryLimit    int64   `json:"memory_limit"`    // bytes that a control group allows; 0 is no limit
	OS             string  `json:"os"`              // linux, darwin
	Arch           string  `json:"arch"`            // amd64, arm64
	Kernel         string  `json:"kernel"`          // release of the operating system's kernel
	Governor       string  `json:"governor"`        // how the clock speed is chosen: performance, powersave, ...
	Virtual        bool    `json:"virtual"`         // the processor says that a hypervisor runs it
	GoVersion      string  `json:"go_version"`      //
	InstructionSet string  `json:"instruction_set"` // as InstructionSet gives it
	Commit         string  `json:"commit"`          // of this program, with "+dirty" if it was built from changed files
}

// Read takes the fingerprint of this machine. It reads a few small files and runs nothing.
func Read() Fingerprint {
	f := Fingerprint{
		Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: kernelRelease(), GoVersion: runtime.Version(), InstructionSet: InstructionSet(), Commit: commit(),
	}
	f.readPlatform()
	return f
}

// Digest is 12 hexadecimal digits that stay the same on one machine and differ between machines of different kinds. It
// covers processor, cores, memory in whole GiB, limits, operating system and architecture, but not the versions of
// kernel and Go, which have columns of their own: an update does not make another machine.
func (f Fingerprint) Digest() string {
	const gib = 1 << 30
	text := fmt.Sprintf("%q %d %g %d %d %q %q %q", f.CPU, f.Cores, f.CPULimit,
		(f.Memory+gib/2)/gib, f.MemoryLimit, f.OS, f.Arch, f.InstructionSet)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// InstructionSet is the widest vector instruction set of this processor that engines make use of: "avx512" (F, BW, DQ
// and VL), "avx2" (with FMA), "sse4", "sse2", "sve", "neon", or "portable" elsewhere. It is what the processor has;
// which variant our own kernels picked is for them to say.
func InstructionSet() string {
	switch runtime.GOARCH {
	case "amd64", "386":
		x := &cpu.X86
		switch {
		case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
			return "avx512"
		case x.HasAVX2 && x.HasFMA:
			return "avx2"
		case x.HasSSE41 && x.HasSSE42:
			return "sse4"
		}
		return "sse2"
	case "arm64":
		if cpu.ARM64.HasSVE {
			return "sve"
		}
		return "neon"
	}
	return "portable"
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}
