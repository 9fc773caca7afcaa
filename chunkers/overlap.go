package chunkers

import (
	"math"
	"math/big"
	"strings"

	"frontier/internal/param"
)

// Overlap is the overlap in units that the completed parameters p of a chunker ask for: the number as given, or the
// percentage of size, rounded half up. It is 0 for a chunker without overlap, and math.MaxInt where the number is
// larger than an int.
func Overlap(p param.Values) int {
	amount, ok := p["overlap"].(string)
	if !ok {
		return 0
	}
	digits, percent := strings.CutSuffix(amount, "%")
	units, ok := new(big.Rat).SetString(digits) // exact, so that 12.5% of 4 is a half and rounds up
	if !ok {
		return 0
	}
	if percent {
		units.Mul(units, big.NewRat(int64(p.Int("size")), 100))
	}
	units.Add(units, big.NewRat(1, 2))
	floor := new(big.Int).Quo(units.Num(), units.Denom())
	if !floor.IsInt64() || floor.Int64() > math.MaxInt {
		return math.MaxInt
	}
	return int(floor.Int64())
}
