package cost

import (
	"fmt"
	"math"
)

// assumptions are the sentences that a reader needs to judge d.
func assumptions(in Input, c *Catalog, policy Policy, d *Deployment) []string {
	busy := in.busyCores()
	concurrency := "an unknown concurrency"
	if in.Concurrency > 0 {
		concurrency = fmt.Sprintf("concurrency %d", in.Concurrency)
	}
	s := []string{
		fmt.Sprintf("Prices are those of %s, dated %s (%s).", c.File, c.Date, c.Source),
		fmt.Sprintf("A month has %d hours, and the load is a steady %g queries a second.", HoursPerMonth, in.QPS),
		fmt.Sprintf("Throughput grows in proportion to vCPUs, from %.4g queries a second measured on %d busy of %d cores at %s: %.4g for each vCPU of %s.",
			in.MeasuredQPS, busy, in.Cores, concurrency, in.MeasuredQPS/float64(busy), d.Machine.Name),
		"A vCPU of the catalogue is as fast as a core of the measuring machine.",
		fmt.Sprintf("Machines run at %.0f%% of their measured throughput at most; they would run at %.1f%%.", 100*policy.MaxUtilisation, 100*d.Utilisation),
		fmt.Sprintf("Every machine holds the whole index: %s of memory in use and %s of mapped files that must stay in RAM, with %.0f%% of %s left free.",
			formatBytes(in.MemoryServing), formatBytes(in.MemoryMapped), 100*policy.Headroom, formatBytes(d.Machine.Memory)),
		fmt.Sprintf("There are at least %d machines; capacity to replace one that fails is not added beyond that.", max(1, in.Replicas)),
	}
	switch {
	case in.DiskBytes == 0:
	case math.IsNaN(d.StorageUSDPerMonth):
		s = append(s, fmt.Sprintf("%s of disk for each machine is not counted: %s gives no storage_usd_per_gib_month.", formatBytes(in.DiskBytes), c.File))
	default:
		s = append(s, fmt.Sprintf("Every machine stores the index on disk: %s at %g USD a GiB and month.", formatBytes(in.DiskBytes), c.StorageUSDPerGiBMonth))
	}
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
