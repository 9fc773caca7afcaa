package load

import "sync/atomic"

// Keeper remembers which queries have had their first answer kept. Blocks that measure the same point share one, so
// that Target.Keep is called once a query over all of them.
type Keeper struct {
	kept []atomic.Bool
	left atomic.Int64
}

// NewKeeper is a Keeper for the queries 0 to queries-1, none of them kept.
func NewKeeper(queries int) *Keeper {
	k := &Keeper{kept: make([]atomic.Bool, max(queries, 0))}
	k.left.Store(int64(len(k.kept)))
	return k
}

// Left is the number of queries that have no answer yet.
func (k *Keeper) Left() int { return int(k.left.Load()) }

// claim says whether the caller is the first with an answer to query.
func (k *Keeper) claim(query int) bool {
	kept := &k.kept[query]
	// The load comes first because nearly all queries are repeats, and a failed swap would still take the cache line
	// away from the other clients.
	if kept.Load() || !kept.CompareAndSwap(false, true) {
		return false
	}
	k.left.Add(-1)
	return true
}
