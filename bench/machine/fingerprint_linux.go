package machine

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

const cpufreq = "/sys/devices/system/cpu/cpu0/cpufreq/"

func (f *Fingerprint) readPlatform() {
	// Every file may be absent, in containers and on odd kernels; the fields then stay empty.
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		f.CPU, f.Virtual = parseCPUInfo(raw)
	}
	if raw, err := os.ReadFile("/proc/meminfo"); err == nil {
		f.Memory, _ = parseKilobytes(raw, "MemTotal")
	}
	f.Governor = firstLine(cpufreq + "scaling_governor")
	f.CPULimit, f.MemoryLimit = controlGroupLimits("/proc/self/cgroup", "/sys/fs/cgroup")
}

// parseCPUInfo reads the model of the first processor. ARM kernels give only numbers for it.
func parseCPUInfo(raw []byte) (model string, virtual bool) {
	fields := map[string]string{}
	for line := range bytes.Lines(raw) {
		key, value, ok := strings.Cut(string(line), ":")
		key = strings.TrimSpace(key)
		if _, seen := fields[key]; ok && !seen {
			fields[key] = strings.TrimSpace(value)
		}
	}
	for _, flag := range strings.Fields(fields["flags"]) {
		virtual = virtual || flag == "hypervisor"
	}
	if model = fields["model name"]; model == "" && fields["CPU implementer"] != "" {
		model = fmt.Sprintf("implementer %s part %s variant %s", fields["CPU implementer"], fields["CPU part"], fields["CPU variant"])
	}
	return model, virtual
}

func firstLine(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(line)
}
