package truth

import (
	"fmt"
	"math"
	"sort"

	"frontier/datasets"
)

const (
	// codeBytes is what the program itself takes, with all engines, as far as it is in memory.
	codeBytes = 48 << 20
	// fixedBytes is what a search takes whatever its size: the code, the runtime, the buffers of its output, and the
	// garbage that is not collected yet.
	fixedBytes = codeBytes + 16<<20
	// minBufferBytes and maxBufferBytes bound one of the two buffers into which base rows are read. Smaller ones keep
	// disks and processors from their full rate, larger ones gain nothing.
	minBufferBytes = minStepBytes
	maxBufferBytes = 32 << 20
)

// Plan is how a search uses memory, in bytes. Fixed + Queries + Candidates + Buffers is all that it holds.
type Plan struct {
	Fixed      int64
	Queries    int64 // queries x dim float32
	Candidates int64 // queries x k candidates, and what else the Scanner holds
	Buffers    int64 // two of BufferRows rows, and what decodes them
	BufferRows int   // rows that are read at a time
}

// HeapLimit is what a process that may hold memory bytes sets with debug.SetMemoryLimit, so that garbage is collected in
// time: all but what its code takes. The working set of any plan leaves room for garbage below it.
func HeapLimit(memory int64) int64 { return memory - codeBytes }

// Total is the working set.
func (p Plan) Total() int64 { return p.Fixed + p.Queries + p.Candidates + p.Buffers }

// PlanMemory divides memory bytes (0 for no limit) for the k nearest of queries x dim values among rows base rows on
// workers goroutines. It refuses a limit that is too small, with the figures.
func PlanMemory(queries, dim, rows, k, workers int, memory int64) (Plan, error) {
	k = min(k, rows)
	if queries > math.MaxInt/8/dim || queries > math.MaxInt/2/neighborBytes/k {
		return Plan{}, fmt.Errorf("%d neighbours of %d queries of %d dimensions are more than any memory holds", k, queries, dim)
	}
	with := func(bufferRows int) Plan {
		return Plan{
			Fixed: fixedBytes, Queries: 4 * int64(queries) * int64(dim),
			Candidates: ScannerBytes(queries, dim, k, workers),
			Buffers:    2*4*int64(dim)*int64(bufferRows) + datasets.StreamBytes(dim), BufferRows: bufferRows,
		}
	}
	least := min(max(minBufferBytes/(4*dim), 1), rows)
	most := min(max(maxBufferBytes/(4*dim), 1), rows)
	if memory <= 0 {
		return with(most), nil
	}
	if p := with(least); p.Total() > memory {
		return Plan{}, &MemoryError{Memory: memory, Needs: p, QueryCount: queries, Dim: dim, K: k}
	}
	tooMany := sort.Search(most+1-least, func(i int) bool { return with(least+i).Total() > memory })
	return with(least + tooMany - 1), nil
}

// MemoryError says that a limit on memory is too small, and what is needed at least.
type MemoryError struct {
	Memory             int64
	Needs              Plan
	QueryCount, Dim, K int
}

func (e *MemoryError) Error() string {
	mib := func(bytes int64) string { return fmt.Sprintf("%.1f MiB", math.Ceil(float64(bytes)/(1<<20)*10)/10) }
	return fmt.Sprintf("%s are too little: at least %s are needed: %s for %d queries of %d dimensions, %s for %d candidates of each, %s to read the base, %s fixed; give more, ask for fewer neighbours, or split the queries",
		mib(e.Memory), mib(e.Needs.Total()), mib(e.Needs.Queries), e.QueryCount, e.Dim, mib(e.Needs.Candidates), e.K, mib(e.Needs.Buffers), mib(e.Needs.Fixed))
}
