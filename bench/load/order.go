package load

import "math/rand/v2"

// Order is a fixed permutation of the queries 0 to queries-1 for a seed. A fixed order that is not the order of the
// file keeps neighbours in the file, which are often alike, from warming caches for each other.
func Order(queries int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, uint64(queries))).Perm(max(queries, 0))
}
