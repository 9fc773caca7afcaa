package cost

import (
	"fmt"
	"math"
)

// Assumptions are the sentences that hold for every estimate at this load: what a reader must know to judge the dollars
// of a whole table.
func Assumptions(qps float64, replicas int, c *Catalog, policy Policy) []string {
	s := []string{
		fmt.Sprintf("Prices are those of %s, dated %s (%s).", c.File, c.Date, c.Source),
		fmt.Sprintf("A month has %d hours, and the load is a steady %g queries a second.", HoursPerMonth, qps),
		"Throughput grows in proportion to vCPUs, from the measured rate for each busy core; a vCPU of the catalogue is as fast as a core of the measuring machine.",
		fmt.Sprintf("Machines run at %.0f%% of their measured throughput at most, and %.0f%% of their memory stays free.", 100*policy.MaxUtilisation, 100*policy.Headroom),
		"Every machine holds the whole index: its memory while serving, and its mapped files in RAM.",
		fmt.Sprintf("There are at least %d machines; capacity to replace one that fails is not added beyond that.", max(1, replicas)),
	}
	if math.IsNaN(c.StorageUSDPerGiBMonth) {
		return append(s, fmt.Sprintf("Disk is not counted: %s gives no storage_usd_per_gib_month.", c.File))
	}
	return append(s, fmt.Sprintf("Every machine stores the index on disk, at %g USD a GiB and month.", c.StorageUSDPerGiBMonth))
}

// assumptions are those of one deployment: the general ones and its own figures.
func assumptions(in Input, c *Catalog, policy Policy, d *Deployment) []string {
	busy := in.busyCores()
	concurrency := "an unknown concurrency"
	if in.Concurrency > 0 {
		concurrency = fmt.Sprintf("concurrency %d", in.Concurrency)
	}
	s := append(Assumptions(in.QPS, in.Replicas, c, policy),
		fmt.Sprintf("%.4g queries a second were measured on %d busy of %d cores at %s: %.4g for each vCPU of %s, which would run at %.1f%%.",
			in.MeasuredQPS, busy, in.Cores, concurrency, in.MeasuredQPS/float64(busy), d.Machine.Name, 100*d.Utilisation),
		fmt.Sprintf("The index needs %s of memory in use, %s of mapped files in RAM and %s of disk; %s has %s.",
			formatBytes(in.MemoryServing), formatBytes(in.MemoryMapped), formatBytes(in.DiskBytes), d.Machine.Name, formatBytes(d.Machine.Memory)),
	)
	switch {
	case in.EmbedModel == "":
		s = append(s, "Embedding is not bought; the machine time that it takes is not counted.")
	case math.IsNaN(d.EmbedUSD):
		s = append(s, fmt.Sprintf("What embedding costs is not known: %s has no price for the model %q; add it under embedding.", c.File, in.EmbedModel))
	default:
		s = append(s, fmt.Sprintf("The corpus is embedded once (%d tokens by %s); embedding queries is not counted.", in.EmbedTokens, in.EmbedModel))
	}
	return s
}
