// Package splitmix has the mixing function of SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number
// generators, OOPSLA 2014). What it gives is part of data sets and embeddings, and never changes.
package splitmix

// Mix is one step of the generator from the state x: a bijection that spreads neighbouring numbers over all 64 bits.
func Mix(x uint64) uint64 { return Finish(x + 0x9e3779b97f4a7c15) }

// Finish is the finaliser of a step, a bijection in which every bit of the result depends on every bit of x. It leaves 0 as
// it is.
func Finish(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
