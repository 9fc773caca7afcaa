package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Block is what one stretch of load measured, or several after Merge.
type Block struct {
	// Histogram holds the latency of every query after warm-up, in nanoseconds, those that failed or were dropped included.
	Histogram *hdrhistogram.Histogram
	Samples   int64 // queries that Histogram holds
	Errors    int64 // of these, how many were sent and failed
	TimedOut  int64 // of the failed ones, how many with an error that is context.DeadlineExceeded
	Clipped   int64 // queries that took longer than MaxLatency, which Histogram holds as MaxLatency
	// FirstError is the first error of the lowest-numbered client that had one, for messages.
	FirstError error
	Total      time.Duration // sum of all latencies, exact
	Longest    time.Duration // exact, where Histogram rounds to three digits
	Wall       time.Duration // from the common start to the last answer, without warm-up
	Clients    int
	// Next is the position in the order after the last query that was sent. The next block of the same point starts
	// there, so that short blocks do not send the first few queries over and over.
	Next int
	// Covered says that every query of the order was sent and answered, or failed, after warm-up.
	Covered bool

	// Rate is the arrivals a second of an open loop, and 0 in a closed loop, as all that follows it is.
	Rate     float64
	Arrivals Arrivals
	// Service holds the time from the sending to the answer of every query that was sent, in nanoseconds. It is nil in a
	// closed loop, where that is the latency.
	Service      *hdrhistogram.Histogram
	ServiceTotal time.Duration // sum of all service times, exact
	Dropped      int64         // of the samples, how many were never sent because they had waited too long
	Late         int64         // of the samples, how many were sent later than planned by more than Open.Slack, or dropped
	Waited       int64         // of the samples, how many came while a client waited for them
	Overslept    time.Duration // by how much these were sent too late, in sum: what the harness adds to latency
}

// The range of the histograms, in nanoseconds with three significant digits.
const (
	minLatency = time.Nanosecond
	MaxLatency = 10 * time.Minute
	digits     = 3
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(minLatency), int64(MaxLatency), digits)
}

// QPS is answers a second of wall time, counted: failed and dropped queries are no answers. It is NaN if nothing ran.
func (b *Block) QPS() float64 {
	if b.Wall <= 0 {
		return math.NaN()
	}
	return float64(b.Samples-b.Errors-b.Dropped) / b.Wall.Seconds()
}

// Mean is the mean latency in seconds, failed and dropped queries included; NaN if nothing ran.
func (b *Block) Mean() float64 {
	if b.Samples == 0 {
		return math.NaN()
	}
	return b.Total.Seconds() / float64(b.Samples)
}

// Merge is the sum of blocks that ran one after another under the same load: wall times add. Next is the
// last block's, and Covered holds if it does for any block. The blocks are not changed.
func Merge(blocks ...*Block) (*Block, error) {
	if len(blocks) == 0 {
		return nil, errors.New("merging blocks of load: there are none")
	}
	sum := &Block{Histogram: newHistogram(), Clients: blocks[0].Clients, Rate: blocks[0].Rate, Arrivals: blocks[0].Arrivals}
	if sum.Rate != 0 {
		sum.Service = newHistogram()
	}
	for i, b := range blocks {
		if b.Clients != sum.Clients {
			return nil, fmt.Errorf("merging blocks of load: block %d had %d clients and block 0 had %d, so they measure different loads", i, b.Clients, sum.Clients)
		}
		if b.Rate != sum.Rate || b.Arrivals != sum.Arrivals {
			return nil, fmt.Errorf("merging blocks of load: block %d is %s and block 0 is %s, so they measure different loads", i, b.loop(), sum.loop())
		}
		if err := sum.add(b); err != nil {
			return nil, fmt.Errorf("merging blocks of load: block %d: %w", i, err)
		}
		sum.Wall += b.Wall
		sum.Next = b.Next
		sum.Covered = sum.Covered || b.Covered
	}
	return sum, nil
}

// loop says in what kind of loop the block was measured.
func (b *Block) loop() string {
	if b.Rate == 0 {
		return "a closed loop"
	}
	return fmt.Sprintf("an open loop with %v %s arrivals a second", b.Rate, b.Arrivals)
}

// add adds everything but wall time.
func (b *Block) add(o *Block) error {
	if dropped := b.Histogram.Merge(o.Histogram); dropped > 0 {
		return fmt.Errorf("%d latencies are outside of 0 to %v: the histogram was not made by this package", dropped, MaxLatency)
	}
	if b.Service != nil {
		if dropped := b.Service.Merge(o.Service); dropped > 0 {
			return fmt.Errorf("%d service times are outside of 0 to %v: the histogram was not made by this package", dropped, MaxLatency)
		}
	}
	b.Samples += o.Samples
	b.Errors += o.Errors
	b.TimedOut += o.TimedOut
	b.Clipped += o.Clipped
	b.ServiceTotal += o.ServiceTotal
	b.Dropped += o.Dropped
	b.Late += o.Late
	b.Waited += o.Waited
	b.Overslept += o.Overslept
	b.Total += o.Total
	b.Longest = max(b.Longest, o.Longest)
	if b.FirstError == nil {
		b.FirstError = o.FirstError
	}
	return nil
}

// record adds one query that was sent.
func (b *Block) record(took time.Duration, err error) {
	b.count(took, 1)
	if err == nil {
		return
	}
	b.Errors++
	if errors.Is(err, context.DeadlineExceeded) {
		b.TimedOut++
	}
	if b.FirstError == nil {
		b.FirstError = err
	}
}

// count adds n samples of the same latency.
func (b *Block) count(took time.Duration, n int64) {
	b.Samples += n
	b.Total += time.Duration(n) * took
	b.Longest = max(b.Longest, took)
	if took > MaxLatency {
		b.Clipped += n
		took = MaxLatency
	}
	// Cannot fail: took is within the range of the histogram.
	_ = b.Histogram.RecordValues(int64(took), n)
}

// serve adds one service time.
func (b *Block) serve(took time.Duration) {
	b.ServiceTotal += took
	_ = b.Service.RecordValue(int64(min(took, MaxLatency))) // cannot fail either
}

// EncodeHistogram is h in the exchange form of HdrHistogram, V2 compressed, as base64 text that begins with "HISTFAAA":
// what the tools of other languages read.
func EncodeHistogram(h *hdrhistogram.Histogram) ([]byte, error) {
	raw, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encoding a latency histogram: %w", err)
	}
	return raw, nil
}

// DecodeHistogram reads what EncodeHistogram wrote.
func DecodeHistogram(raw []byte) (*hdrhistogram.Histogram, error) {
	h, err := hdrhistogram.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("decoding a latency histogram of %d bytes: %w", len(raw), err)
	}
	return h, nil
}
