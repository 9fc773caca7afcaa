//go:build !race

package embedders

const underRace = false
