package pipeline

import (
	"math/bits"
	"sync/atomic"
	"time"

	"driftscope/internal/flow/latent"
)

// A clock counts durations in buckets, 16 per power of two in nanoseconds. A quantile is then within 1/32 of the true one, and a clock takes 8 KiB however long
// the run.
const (
	subBits  = 4
	buckets  = (64 - subBits) << subBits
	millisec = float64(time.Millisecond)
)

// clock collects the times of one stage per frame. Any number of goroutines may observe and read.
type clock struct {
	name   string
	counts [buckets]atomic.Uint64
}

func (c *clock) observe(d time.Duration) { c.counts[bucket(d)].Add(1) }

// since observes the time from start to now.
func (c *clock) since(start time.Time) { c.observe(time.Since(start)) }

// stage returns the quantiles and the sum. They are zero for a clock without observations.
func (c *clock) stage() latent.Stage {
	var counts [buckets]uint64
	var total uint64
	sum := 0.0
	for i := range counts {
		counts[i] = c.counts[i].Load()
		total += counts[i]
		sum += float64(counts[i]) * middle(i)
	}
	quantile := func(permille uint64) float64 {
		need := (total*permille + 999) / 1000 // the rank, counted from 1
		var seen uint64
		for i, n := range counts {
			if seen += n; n > 0 && seen >= need {
				return middle(i) / millisec
			}
		}
		return 0
	}
	return latent.Stage{Name: c.name, P50MS: quantile(500), P95MS: quantile(950), P99MS: quantile(990), Count: total, TotalMS: sum / millisec}
}

// bucket returns the index of the bucket for d: the number of nanoseconds below 16 ns, otherwise the leading five bits and the exponent.
func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	exponent := max(bits.Len64(n)-subBits-1, 0)
	return exponent<<subBits + int(n>>exponent)
}

// middle returns the centre of bucket i, in nanoseconds.
func middle(i int) float64 {
	exponent := max(i>>subBits-1, 0)
	low := float64(uint64(i-exponent<<subBits) << exponent)
	return low + float64(uint64(1)<<exponent-1)/2
}
