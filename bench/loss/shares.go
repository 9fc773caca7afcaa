package loss

import (
	"fmt"
	"math"
	"math/big"
)

// Counts are the units of one query by class.
type Counts [classes]int

// Count is the units of each class.
func Count(all []Class) (Counts, error) {
	var c Counts
	for i, class := range all {
		if class < 0 || class >= classes {
			return c, fmt.Errorf("loss attribution: unit %d has %v, which there is not", i, class)
		}
		c[class]++
	}
	return c, nil
}

// Units is how many there are.
func (c Counts) Units() int {
	n := 0
	for _, of := range c {
		n += of
	}
	return n
}

// Recall is the share of Found; NaN without units.
func (c Counts) Recall() float64 { return float64(c[Found]) / float64(c.Units()) }

// Mean averages the shares of queries, each query counting alike, as the mean of recall does. The zero value is ready.
//
// Nothing is rounded while queries are added: those with the same number of units share a denominator, and are kept as
// whole numbers.
type Mean struct {
	byUnits map[int]*[classes]int64 // number of units of a query to the sum of the counts of such queries
	queries int
}

// Add adds a query. One without units has no recall to explain and no place in the mean.
func (m *Mean) Add(c Counts) {
	n := c.Units()
	if n == 0 {
		return
	}
	if m.byUnits == nil {
		m.byUnits = map[int]*[classes]int64{}
	}
	sums := m.byUnits[n]
	if sums == nil {
		sums = new([classes]int64)
		m.byUnits[n] = sums
	}
	for class, of := range c {
		sums[class] += int64(of)
	}
	m.queries++
}

// Queries is how many are in the mean.
func (m *Mean) Queries() int { return m.queries }

// Exact is the mean share of each class, indexed by Class. The shares add up to 1. It is nil without queries.
func (m *Mean) Exact() []*big.Rat {
	if m.queries == 0 {
		return nil
	}
	exact := make([]*big.Rat, classes)
	for class := range exact {
		exact[class] = new(big.Rat)
	}
	for n, sums := range m.byUnits {
		for class, of := range sums {
			if of != 0 {
				exact[class].Add(exact[class], big.NewRat(of, int64(n)))
			}
		}
	}
	all := new(big.Rat).SetInt64(int64(m.queries))
	for class := range exact {
		exact[class].Quo(exact[class], all)
	}
	return exact
}

// Shares are the parts of what was lost, indexed by Class. Shares[Found] is the recall.
type Shares [classes]float64

// Of is the share of a class.
func (s Shares) Of(c Class) float64 { return s[c] }

// recallTolerance is how far a recall that was added up in floating point may be from the exact one: more than
// rounding of millions of queries leaves, and less than one unit of gold makes among that many.
const recallTolerance = 1e-9

// Shares are the mean shares as floating point numbers that add up exactly, in any order of addition, to 1 - recall as
// computed in floating point. recall is the one that is reported beside them; one that does not match what was
// attributed is an error, for then the two have different denominators.
//
// Numbers that are multiples of 2^-53 and add up to at most 1 are added without rounding, and 1 - recall is one of them.
// So each share is rounded down to such a multiple, and the few that are left over go to the largest loss: a share is off by
// no more than the recall itself is, and 2^-49.
func (m *Mean) Shares(recall float64) (Shares, error) {
	if m.queries == 0 {
		return Shares{}, fmt.Errorf("loss attribution: no query has any relevant gold, so that there is no loss to divide")
	}
	return divide(m.Exact(), recall)
}

// Shares are those of one query; see Mean.Shares.
func (c Counts) Shares(recall float64) (Shares, error) {
	var m Mean
	m.Add(c)
	return m.Shares(recall)
}

func divide(exact []*big.Rat, recall float64) (Shares, error) {
	var shares Shares
	want, _ := exact[Found].Float64()
	if !(math.Abs(recall-want) <= recallTolerance) || recall < 0 || recall > 1 {
		return shares, fmt.Errorf("loss attribution: the recall is %v, and by what was attributed it is %v: the two are not of the same units or the same k", recall, want)
	}
	const steps = 1 << 53
	left := int64((1 - recall) * steps)
	largest := Missing
	var whole [classes]int64
	for _, class := range Losses() {
		scaled := new(big.Int).Lsh(exact[class].Num(), 53)
		whole[class] = scaled.Quo(scaled, exact[class].Denom()).Int64()
		left -= whole[class]
		if whole[class] > whole[largest] {
			largest = class
		}
	}
	if whole[largest] += left; left != 0 && (exact[largest].Sign() == 0 || whole[largest] < 0) {
		return shares, fmt.Errorf("loss attribution: the recall is %v, and the losses that were attributed do not explain the rest", recall)
	}
	shares[Found] = recall
	for _, class := range Losses() {
		shares[class] = float64(whole[class]) / steps
	}
	return shares, nil
}
