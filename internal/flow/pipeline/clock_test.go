package pipeline

import (
	"math"
	"testing"
	"time"
)

func TestClockQuantiles(t *testing.T) {
	var c clock
	for i := 1; i <= 10000; i++ {
		c.observe(time.Duration(i) * time.Microsecond)
	}
	s := c.stage()
	for name, q := range map[string][2]float64{"p50": {s.P50MS, 5}, "p95": {s.P95MS, 9.5}, "p99": {s.P99MS, 9.9}} {
		if math.Abs(q[0]-q[1]) > q[1]/32 { // half a bucket
			t.Errorf("%s: found %g ms, expected %g within 1/32", name, q[0], q[1])
		}
	}
	if total := 10.001 * 5000; s.Count != 10000 || math.Abs(s.TotalMS-total) > total/32 {
		t.Errorf("found %d times of %g ms in all, expected 10000 of %g within 1/32", s.Count, s.TotalMS, total)
	}
	if empty := new(clock).stage(); empty.P99MS != 0 {
		t.Errorf("a clock that saw nothing reads %g", empty.P99MS)
	}
}

// TestBuckets: every duration has its own bucket, whose middle is within 1/32 of it, and buckets grow with durations.
func TestBuckets(t *testing.T) {
	last := -1
	for _, d := range []time.Duration{-5, 0, 1, 15, 16, 17, 31, 32, 1000, 12345, 1e6, 1e9, 3600e9, math.MaxInt64} {
		i := bucket(d)
		if i < last || i >= buckets {
			t.Fatalf("%d ns is in bucket %d after %d of %d", d, i, last, buckets)
		}
		if want := float64(max(d, 0)); math.Abs(middle(i)-want) > want/32 {
			t.Errorf("%d ns reads back as %g", d, middle(i))
		}
		last = i
	}
}
