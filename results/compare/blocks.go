package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"frontier/bench/stats"
	"frontier/results"
)

// BlocksVersion is the form of Blocks that this version reads.
const BlocksVersion = 1

// Blocks is what `frontier ab --format json` prints: two variants, measured in turn on one machine. The values of a pair
// of blocks were measured next to each other, in an order that was drawn at random, so that drift of the machine falls
// on both alike. That decides on changes of latency that two runs one after the other cannot tell from noise.
type Blocks struct {
	Version int           `json:"version"`
	Base    string        `json:"base"` // what was compared, for people
	New     string        `json:"new"`
	Machine string        `json:"machine_digest,omitempty"`
	Points  []BlocksPoint `json:"points"`
}

// BlocksPoint is one point of both variants.
type BlocksPoint struct {
	// Key is the point's parameters by column, as in results.parquet; at least those that the gate matches by.
	Key map[string]any `json:"key"`
	// Metrics are values by column, such as latency_p50_seconds and qps: one of each variant for each pair of blocks.
	Metrics map[string]BlockPairs `json:"metrics"`
}

// BlockPairs are parallel values of the two variants, all above 0.
type BlockPairs struct {
	Base []float64 `json:"base"`
	New  []float64 `json:"new"`
}

// ReadBlocks reads the output of frontier ab.
func ReadBlocks(path string) (*Blocks, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the pairs of blocks: %w", err)
	}
	b, err := parseBlocks(raw)
	if err != nil {
		return nil, fmt.Errorf("read the pairs of blocks in %s: %w; write the file with frontier ab --format json", path, err)
	}
	return b, nil
}

func parseBlocks(raw []byte) (*Blocks, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var b Blocks
	if err := d.Decode(&b); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("byte offset %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	if b.Version != BlocksVersion {
		return nil, fmt.Errorf("it is of version %d, this frontier reads %d", b.Version, BlocksVersion)
	}
	for i, p := range b.Points {
		for name, pairs := range p.Metrics {
			if _, err := LookupMetric(name); err != nil {
				return nil, fmt.Errorf("point %d: %w", i, err)
			}
			if len(pairs.Base) != len(pairs.New) {
				return nil, fmt.Errorf("point %d, %s: %d values of base and %d of new", i, name, len(pairs.Base), len(pairs.New))
			}
			for j := range pairs.Base {
				if !(pairs.Base[j] > 0 && pairs.New[j] > 0) {
					return nil, fmt.Errorf("point %d, %s: pair %d is %g and %g; values must be above 0", i, name, j, pairs.Base[j], pairs.New[j])
				}
			}
		}
		for column, v := range p.Key {
			if number, ok := v.(json.Number); ok {
				b.Points[i].Key[column] = numberOf(number)
			}
		}
	}
	return &b, nil
}

// numberOf is an int64 where it is one, so that it reads as the column does.
func numberOf(n json.Number) any {
	if v, err := n.Int64(); err == nil {
		return v
	}
	v, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return v
}

// Find are the pairs of blocks for a point that was matched by these columns, and whether there are any.
func (b *Blocks) Find(key results.Row, columns []string, metric string) (BlockPairs, bool) {
	for _, p := range b.Points {
		same := true
		for _, c := range columns {
			same = same && show(p.Key[c]) == show(key[c])
		}
		if pairs, ok := p.Metrics[metric]; ok && same {
			return pairs, true
		}
	}
	return BlockPairs{}, false
}

// BlockDifference compares pairs of blocks by their ratios. With too few pairs to decide anything the interval is NaN.
func BlockDifference(metric Metric, pairs BlockPairs, o Options) (*Difference, error) {
	c, err := stats.Compare(pairs.Base, pairs.New, stats.CompareOptions{
		Confidence: o.Confidence, Relative: true, LowerIsBetter: !metric.Higher(), Seed: o.Seed,
	})
	d := &Difference{
		Metric: metric, Method: ByBlock, Relative: true, Confidence: o.Confidence, Cases: len(pairs.Base), logs: true,
		Change: c.Estimate, Low: c.Low, High: c.High, P: c.P,
	}
	for i := range pairs.Base {
		d.sample = append(d.sample, math.Log(pairs.New[i]/pairs.Base[i]))
	}
	if len(pairs.Base) > 0 {
		d.Base, d.New = geometricMean(pairs.Base), geometricMean(pairs.New)
		d.Change = d.New/d.Base - 1
	}
	var few *stats.TooFewPairsError
	if errors.As(err, &few) {
		d.Low, d.High, d.P = math.NaN(), math.NaN(), math.NaN()
		return d, nil
	}
	return d, err
}

func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}
