package kernels

import (
	"fmt"
	"os"
	"strings"
)

// Env is the environment variable that forces a variant: portable, avx2, avx512 or neon.
const Env = "FRONTIER_KERNELS"

// Variant names the instruction set that the kernels use: portable, avx2, avx512 or neon.
func Variant() string { return active.name }

// Forced is the variant that Env asks for, or "" where the fastest was chosen.
func Forced() string { return forced }

// Err says what is wrong with the variant that Env asks for: it is unknown, or this machine does not have it. The
// portable one is used then. Commands refuse to start with such an error.
func Err() error { return activeErr }

// variant is the kernels of one instruction set.
type variant struct {
	name           string
	dot, squaredL2 func(a, b []float32) float32
	// As DotRows and SquaredL2Rows.
	dotRows, squaredL2Rows func(dst, query, rows []float32)
	// As Dot64Four and so on; nil where there is nothing better than one by one.
	dot64Four, squaredL264Four, square64Four fourKernel

	pack func(dst, row, mean []float32, scale float32) float32
	tile Shape
	// As Sifted.Sift; it returns how many hits there are.
	sift  func(p *Panel, t *Tile, limits []float32, out *Sifted) int
	sieve *sieveKernels // nil where float32 is as fast
	// The bytes of the signed ones are int8. They take at most byteChunk bytes.
	dotUint8, squaredL2Uint8, dotInt8, squaredL2Int8 func(a, b []byte) int32
}

// active is chosen before main and never changes.
var (
	forced            = os.Getenv(Env)
	active, activeErr = choose(forced, available())
)

// choose is the variant called name, or the last, fastest, of those that this machine has if name is empty.
func choose(name string, have []variant) (variant, error) {
	if name == "" {
		return have[len(have)-1], nil
	}
	var names []string
	for _, v := range have {
		if v.name == name {
			return v, nil
		}
		names = append(names, v.name)
	}
	err := fmt.Errorf("%s=%q: this machine has the kernels %s; set it to one of them, or leave it unset for the fastest",
		Env, name, strings.Join(names, ", "))
	return have[0], err
}
