package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"frontier/bench/ranking"
	"frontier/bench/recall"
	"frontier/bench/stats"
	"frontier/results"
)

// Intervals over queries are at this confidence, and from this many resamples where they are bootstraps.
const (
	confidence = 0.95
	resamples  = 2000
)

// perQuery collects one metric's value of each query, by column name.
type perQuery map[string][]float64

func (p perQuery) add(name string, v float64) { p[name] = append(p[name], v) }

// qualityValues names the values of one query's metrics by column. Metrics without a denominator are left out.
func qualityValues(m ranking.Metrics, ks []int, judged bool) map[string]float64 {
	if math.IsNaN(m.MRRFull) {
		return nil
	}
	values := map[string]float64{"mrr": m.MRRFull, "map": m.MAPFull}
	for i, k := range ks {
		for name, v := range map[string][]float64{
			"recall": m.Recall, "hit_rate": m.HitRate, "precision": m.Precision, "mrr": m.MRR, "ndcg": m.NDCG, "map": m.MAP,
		} {
			values[fmt.Sprintf("%s_at_%d", name, k)] = v[i]
		}
		if judged && !math.IsNaN(m.Judged[i]) {
			values[fmt.Sprintf("judged_at_%d", k)] = m.Judged[i]
		}
	}
	return values
}

// withoutInterval are the beginnings of the metrics of which a row holds the mean alone.
var withoutInterval = []string{"judged", "span_precision", "span_iou", "span_ceiling", "context_tokens_used", "evidence_recall", "loss_"}

// summarize fills means and, but for those, intervals. The resampling draws the same queries for every metric and
// every point, so that intervals of two rows differ only by what was measured.
func (p perQuery) summarize(row results.Row, seed uint64) {
	for name, values := range p {
		row[name] = sum(values) / float64(len(values))
		if slices.ContainsFunc(withoutInterval, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		if low, high := stats.MetricInterval(values, confidence, resamples, seed); !math.IsNaN(low) {
			row[name+"_low"], row[name+"_high"] = low, high
		}
	}
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// annColumns fills the recall against exact search.
func annColumns(row results.Row, ks []int, perK [][]recall.ANN, seed uint64) {
	for i, k := range ks {
		judged := slices.DeleteFunc(slices.Clone(perK[i]), func(a recall.ANN) bool { return math.IsNaN(a.ByID) })
		s := recall.Summarize(judged)
		if s.Queries == 0 || math.IsNaN(s.ByID) {
			continue
		}
		name := func(prefix string) string { return fmt.Sprintf("%s_at_%d", prefix, k) }
		row[name("ann_recall")], row[name("ann_recall_p05")] = s.ByID, s.P05
		row[name("ann_recall_dist")] = s.ByDistance
		row[name("ann_recall_tie_low")], row[name("ann_recall_tie_high")] = s.TieLow, s.TieHigh
		byID := make([]float64, len(judged))
		for q, a := range judged {
			byID[q] = a.ByID
		}
		if low, high := stats.BootstrapMean(byID, confidence, resamples, seed); !math.IsNaN(low) {
			row[name("ann_recall")+"_low"], row[name("ann_recall")+"_high"] = low, high
		}
		if i == len(ks)-1 {
			annWarnings(row, s, k)
		}
	}
}

func annWarnings(row results.Row, s recall.Summary, k int) {
	if s.Short > 0 {
		addWarnings(row, fmt.Sprintf("%d answers are missing among the first %d of all queries: the engine found fewer than it was asked for; raise ef_search or nprobe", s.Short, k))
	}
	if s.Duplicates > 0 {
		addWarnings(row, fmt.Sprintf("%d answers repeat an id that the same list had already; each counts once", s.Duplicates))
	}
}

// stageColumns fills percentiles of the stages of a query, over the answers that were scored.
func stageColumns(row results.Row, names []string, nanoseconds [][]int64) {
	for _, p := range []struct {
		column string
		p      float64
	}{{"stage_p50_seconds", 0.5}, {"stage_p95_seconds", 0.95}, {"stage_p99_seconds", 0.99}} {
		stages := map[string]float64{}
		for i, name := range names {
			values := slices.Clone(nanoseconds[i])
			if len(values) < stats.MinSamples(p.p, confidence) || slices.Max(values) == 0 {
				continue // too few, or a stage that this engine does not have
			}
			slices.Sort(values)
			stages[name] = float64(values[int(math.Ceil(p.p*float64(len(values))))-1]) / 1e9
		}
		if len(stages) > 0 {
			row[p.column] = stages
		}
	}
}
