package cost

import (
	"errors"
	"fmt"
	"math"
)

// ErrTooLarge is wrapped by the error of Estimate when no machine of the catalogue has the memory.
var ErrTooLarge = errors.New("no machine is large enough")

// HoursPerMonth is the length of a month in all figures: 365 days / 12.
const HoursPerMonth = 730

const (
	queriesPerMillion = 1e6
	tokensPerMillion  = 1e6
	mostMachines      = 1_000_000 // more is a wrong input rather than a plan
)

// Policy is how full machines may get.
type Policy struct {
	Headroom       float64 // share of a machine's memory that stays free, in [0,1)
	MaxUtilisation float64 // share of a machine's measured throughput that is used, in (0,1]
}

// DefaultPolicy leaves 30% of memory and of throughput free.
func DefaultPolicy() Policy { return Policy{Headroom: 0.30, MaxUtilisation: 0.70} }

func (p Policy) validate() error {
	if !(p.Headroom >= 0 && p.Headroom < 1) {
		return fmt.Errorf("a headroom of %v is out of range: at least 0, below 1", p.Headroom)
	}
	if !(p.MaxUtilisation > 0 && p.MaxUtilisation <= 1) {
		return fmt.Errorf("a utilisation of %v is out of range: above 0, up to 1", p.MaxUtilisation)
	}
	return nil
}

// Input is what a deployment must do and what was measured.
type Input struct {
	QPS      float64 // queries a second that all machines together must answer
	Replicas int     // least number of machines, each of which holds the whole index; 0 counts as 1

	MeasuredQPS float64 // answers a second, counted
	Cores       int     // logical cores of the machine that MeasuredQPS was measured on
	// Concurrency is how many queries were under way at a time while MeasuredQPS was measured. Fewer than Cores left
	// cores idle, which are then not counted. 0 is unknown, as under an open loop; then all Cores count.
	Concurrency int

	MemoryServing int64 // anonymous bytes while serving
	MemoryMapped  int64 // bytes of mapped files that were in RAM while serving
	DiskBytes     int64 // of the saved index

	EmbedTokens int64  // tokens to embed, once, for the whole corpus
	EmbedModel  string // as the catalogue names it; "" if embedding is not bought

	Policy *Policy // nil means DefaultPolicy
}

func (in *Input) validate() error {
	switch {
	case !(in.QPS > 0) || math.IsInf(in.QPS, 0):
		return fmt.Errorf("%v queries a second is not a load: it must be above 0", in.QPS)
	case !(in.MeasuredQPS > 0) || math.IsInf(in.MeasuredQPS, 0):
		return fmt.Errorf("a measured throughput of %v queries a second gives no estimate: it must be above 0", in.MeasuredQPS)
	case in.Cores < 1:
		return fmt.Errorf("a throughput measured on %d cores: there must be at least 1", in.Cores)
	case in.Replicas < 0 || in.Concurrency < 0:
		return fmt.Errorf("%d replicas, concurrency %d: neither can be negative", in.Replicas, in.Concurrency)
	case in.MemoryServing < 0 || in.MemoryMapped < 0 || in.DiskBytes < 0 || in.EmbedTokens < 0:
		return fmt.Errorf("a negative size: serving %d, mapped %d, disk %d bytes, %d tokens", in.MemoryServing, in.MemoryMapped, in.DiskBytes, in.EmbedTokens)
	case in.MemoryServing > math.MaxInt64-in.MemoryMapped:
		return fmt.Errorf("%d serving and %d mapped bytes are more than any machine has", in.MemoryServing, in.MemoryMapped)
	case in.MemoryServing+in.MemoryMapped == 0:
		return errors.New("the memory in use is not known: without it an estimate would be too cheap")
	}
	return nil
}

// busyCores are the cores that MeasuredQPS kept busy.
func (in *Input) busyCores() int {
	if in.Concurrency == 0 {
		return in.Cores
	}
	return min(in.Concurrency, in.Cores)
}

// Deployment is the cheapest set of equal machines that does what Input asks. Money is in US dollars.
type Deployment struct {
	Machine              Machine
	Machines             int
	CapacityQPS          float64 // of all machines, at the highest utilisation that the policy allows
	Utilisation          float64 // share of the measured throughput that QPS uses, in (0,1]
	USDPerMonth          float64 // machines and, if it has a price, storage
	StorageUSDPerMonth   float64 // the part of it that is storage; NaN if storage has no price and there is any
	USDPerMillionQueries float64 // USDPerMonth over the queries of a month at QPS
	// EmbedUSD is what embedding the corpus costs, once; 0 if it is not bought, NaN if the catalogue lacks the model.
	EmbedUSD    float64
	Assumptions []string // sentences, for the report
}

// Estimate finds the cheapest type and number of machines of c. Memory decides which types can be used, the measured
// throughput for each busy core how many of them are needed. Of equally dear choices, fewer machines win, then the one
// that stands first in the catalogue. If the index fits into no machine, the error wraps ErrTooLarge and says how much
// is missing.
func Estimate(in Input, c *Catalog) (Deployment, error) {
	if err := errors.Join(in.validate(), c.Validate()); err != nil {
		return Deployment{}, fmt.Errorf("estimating cost: %w", err)
	}
	policy := DefaultPolicy()
	if in.Policy != nil {
		policy = *in.Policy
	}
	if err := policy.validate(); err != nil {
		return Deployment{}, fmt.Errorf("estimating cost: %w", err)
	}

	perCore := in.MeasuredQPS / float64(in.busyCores())
	var best *Deployment
	fits := false
	for _, m := range c.Machines {
		if !policy.holds(m, in.MemoryServing+in.MemoryMapped) {
			continue
		}
		fits = true
		if d, ok := deploy(m, perCore, in, c, policy); ok && (best == nil || d.better(best)) {
			best = &d
		}
	}
	switch {
	case !fits:
		return Deployment{}, fmt.Errorf("estimating cost: %w", tooLarge(in.MemoryServing+in.MemoryMapped, c, policy))
	case best == nil:
		return Deployment{}, fmt.Errorf("estimating cost: %v queries a second at %.3g a core need more than %d machines of any type of %s: check the load that was asked for", in.QPS, perCore, mostMachines, c.File)
	}
	best.EmbedUSD = embedUSD(in, c)
	best.Assumptions = assumptions(in, c, policy, best)
	return *best, nil
}

// holds says whether need bytes leave the headroom free on m.
func (p Policy) holds(m Machine, need int64) bool {
	return float64(need) <= (1-p.Headroom)*float64(m.Memory)
}

func deploy(m Machine, perCore float64, in Input, c *Catalog, policy Policy) (Deployment, bool) {
	perMachine := perCore * float64(m.VCPU)
	wanted := in.QPS / (perMachine * policy.MaxUtilisation)
	if !(wanted <= mostMachines) {
		return Deployment{}, false
	}
	// A load that fills whole machines exactly must not need one more because of a rounding error.
	n := max(1, in.Replicas, int(math.Ceil(wanted*(1-1e-12))))
	storage := 0.0
	if in.DiskBytes > 0 {
		storage = float64(n) * float64(in.DiskBytes) / gib * c.StorageUSDPerGiBMonth
	}
	d := Deployment{
		Machine: m, Machines: n,
		CapacityQPS:        float64(n) * perMachine * policy.MaxUtilisation,
		Utilisation:        in.QPS / (float64(n) * perMachine),
		StorageUSDPerMonth: storage,
		USDPerMonth:        float64(n) * m.USDPerHour * HoursPerMonth,
	}
	if !math.IsNaN(storage) {
		d.USDPerMonth += storage
	}
	d.USDPerMillionQueries = d.USDPerMonth / (in.QPS * HoursPerMonth * 3600 / queriesPerMillion)
	return d, true
}

func (d *Deployment) better(o *Deployment) bool {
	// Sums of the same prices in another order differ in the last digits.
	if math.Abs(d.USDPerMonth-o.USDPerMonth) > 1e-9*o.USDPerMonth {
		return d.USDPerMonth < o.USDPerMonth
	}
	return d.Machines < o.Machines
}

func embedUSD(in Input, c *Catalog) float64 {
	if in.EmbedModel == "" || in.EmbedTokens == 0 {
		return 0
	}
	price, ok := c.embeddingPrice(in.EmbedModel)
	if !ok {
		return math.NaN()
	}
	return float64(in.EmbedTokens) / tokensPerMillion * price
}

func tooLarge(need int64, c *Catalog, policy Policy) error {
	largest := c.Machines[0]
	for _, m := range c.Machines {
		if m.Memory > largest.Memory {
			largest = m
		}
	}
	usable := int64((1 - policy.Headroom) * float64(largest.Memory))
	return fmt.Errorf("%w: serving takes %s, but the largest, %s with %s, offers %s when %.0f%% stay free, so %s are missing; use a smaller index (fewer dimensions, quantisation) or add a larger machine to %s",
		ErrTooLarge, formatBytes(need), largest.Name, formatBytes(largest.Memory), formatBytes(usable),
		100*policy.Headroom, formatBytes(max(1, need-usable)), c.File)
}
