//go:build race

package embedders

// underRace says that the race detector runs, under which a sync.Pool forgets at random.
const underRace = true
