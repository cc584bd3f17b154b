package objects

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
)

// pace measures the frame interval, and counts missing frames by the times of the others.
type pace struct {
	interval float64 // s a frame; 0 before the second
	seq      uint64  // of the last frame
	at       time.Time
}

// lost returns the number of frames that passed before z, besides the gap in frame numbers. A lost camera continues its numbers, and the times show how
// long it was away. Times that jitter by less than half an interval count none.
func (p *pace) lost(z *latent.Sight) int {
	const (
		gain = 0.1 // averages over ten frames
		most = 0.5 // of the interval: bound on the deviation of one frame; a frame hours later moves the mean by a twentieth
		far  = 1.5 // factor over the gap in the numbers
	)
	numbers, seconds, first := float64(z.Seq-p.seq), z.Time.Sub(p.at).Seconds(), p.at.IsZero()
	p.seq, p.at = z.Seq, z.Time
	if first || !(seconds > 0 && numbers > 0) {
		return 0
	}
	step := seconds / numbers
	if p.interval == 0 {
		p.interval = step
		return 0
	}
	times := seconds / p.interval
	p.interval *= 1 + gain*min(max(step/p.interval-1, -most), most)
	if times < far*numbers {
		return 0
	}
	return int(math.Round(min(times, math.MaxInt32) - numbers))
}
