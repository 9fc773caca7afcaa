package sweep

import (
	"context"
	"fmt"

	"frontier/internal/cas"

	"golang.org/x/sync/semaphore"
)

// admission lets builds begin only while the memory that they will take, all together, is there. What a build will take
// is learned from earlier ones.
type admission struct {
	total int64               // bytes that builds may take together; 0 if the system does not tell
	limit int64               // limits.memory, which ends a build that goes beyond it; 0 if not set
	room  *semaphore.Weighted // of total bytes
}

// freeShare is how much of the free memory builds may take; the rest is for the system and for mapped files, which
// builds read fastest from memory.
const freeShare = 0.8

// newAdmission divides the free bytes, 0 if unknown, among jobs builds, each of which takes at most limit bytes, 0 if
// there is none.
func newAdmission(free, limit int64, jobs int) *admission {
	total := int64(freeShare * float64(free))
	if most := limit * int64(jobs); limit > 0 && (total == 0 || most < total) {
		total = most
	}
	return &admission{total: total, limit: limit, room: semaphore.NewWeighted(total)}
}

// admit waits until there is room for a build that will take what e says. It returns the limit under which the build
// may run, 0 for none, and what to call when it has ended. A build that is known to need more than there is does not
// begin. One of which that is only guessed runs alone, and ends when it takes more than there is.
func (a *admission) admit(ctx context.Context, e estimate) (limit int64, release func(), err error) {
	if a.total == 0 {
		return a.limit, func() {}, nil
	}
	limit, need := a.limit, e.bytes
	if limit > 0 {
		need = min(need, limit)
	}
	if need > a.total {
		if e.basis != "" {
			return 0, nil, &cellError{Status: "error", Msg: fmt.Sprintf(
				"was not begun: it needs about %s of memory (%s) and builds may take %s of what is free; free some memory, or set limits.memory to below that to try it under a limit",
				cas.FormatBytes(e.bytes), e.basis, cas.FormatBytes(a.total))}
		}
		need, limit = a.total, a.total
	}
	if err := a.room.Acquire(ctx, need); err != nil {
		return 0, nil, err
	}
	return limit, func() { a.room.Release(need) }, nil
}

// estimate is what a build will take.
type estimate struct {
	bytes int64
	basis string // what it was learned from; "" for a guess
}

// buildSize is what a build took, as its artifact records it.
type buildSize struct {
	Engine string
	Params string // canonical
	Values int64  // numbers in the vectors, or characters in the texts, that were indexed
	Peak   int64  // bytes of anonymous memory
}

const (
	// guessFactor and guessBase are the guess for an engine that was never seen: the input, its index, and as much again,
	// beside what any process takes.
	guessFactor = 3
	guessBase   = 64 << 20
	// maxExtrapolation is how much larger a build may be than one that it is estimated from. Beyond it, what every build
	// takes however small it is would be taken for a cost of each vector.
	maxExtrapolation = 10
)

// estimateBuild says what building b will take, if earlier builds took what history says. Builds with the same
// parameters count for more than others of the same engine; of equals, the one that took most for its size counts.
func estimateBuild(b buildSize, valueBytes int64, history []buildSize) estimate {
	var same, other float64
	for _, h := range history {
		if h.Engine != b.Engine || h.Values <= 0 || h.Peak <= 0 || b.Values > maxExtrapolation*h.Values {
			continue
		}
		perValue := float64(h.Peak) / float64(h.Values)
		if h.Params == b.Params {
			same = max(same, perValue)
		}
		other = max(other, perValue)
	}
	perValue, which := same, " with these parameters"
	if same == 0 {
		perValue, which = other, ""
	}
	if perValue == 0 {
		return estimate{bytes: guessBase + guessFactor*valueBytes*b.Values}
	}
	unit := "number"
	if valueBytes == 1 {
		unit = "character"
	}
	return estimate{
		bytes: int64(perValue * float64(b.Values)),
		basis: fmt.Sprintf("earlier builds of %s%s took %.1f bytes a %s", b.Engine, which, perValue, unit),
	}
}
