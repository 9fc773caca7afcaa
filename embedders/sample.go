package embedders

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// sampled draws at most most of the texts, uniformly, by a reservoir, and returns their positions in ascending order and
// the number of all texts. It keeps positions only, not texts.
func sampled(ctx context.Context, texts Texts, most int, seed uint64) (positions []int, n int, err error) {
	rng := rand.New(rand.NewPCG(seed, 0x72657376))
	for _, err := range texts() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, n, fmt.Errorf("text %d: %w", n, err)
		}
		if len(positions) < most {
			positions = append(positions, n)
		} else if j := rng.IntN(n + 1); j < most {
			positions[j] = n
		}
		n++
	}
	slices.Sort(positions)
	return positions, n, nil
}
