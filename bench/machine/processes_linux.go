package machine

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// WatchProcesses begins a watch. root is the folder that holds proc: "/" but in tests.
func WatchProcesses(root string) *ProcessWatch {
	return &ProcessWatch{root: root, self: os.Getpid(), before: readProcesses(root)}
}

// readProcesses reads the time that each process has used; nil without any.
func readProcesses(root string) map[int]processTime {
	paths, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*/stat")) // the pattern is well formed
	var found map[int]processTime
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if p, ok := parseProcess(raw); ok {
			if found == nil {
				found = map[int]processTime{}
			}
			found[pid] = p
		}
	}
	return found
}

// parseProcess reads /proc/PID/stat (proc(5)): after the name in brackets, which may itself hold brackets and blanks,
// the 12th and 13th field are user and system time in ticks, and the 20th is when it began. The name may change: threads of the
// kernel are named after what they do.
func parseProcess(raw []byte) (processTime, bool) {
	from, to := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if from < 0 || to < from {
		return processTime{}, false
	}
	fields := bytes.Fields(raw[to+1:])
	if len(fields) < 20 {
		return processTime{}, false
	}
	started, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return processTime{}, false
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil || n < 0 || n > 1<<38 {
			return processTime{}, false
		}
		ticks += n
	}
	return processTime{string(raw[from+1 : to]), started, time.Duration(ticks) * (time.Second / ticksPerSecond)}, true
}
