package objects

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
)

// pace is how fast frames come, and tells by their times how many did not.
type pace struct {
	interval float64 // s a frame; 0 before the second
	seq      uint64  // of the last frame
	at       time.Time
}

// lost is how many frames have passed before z, beside those that its number leaves out: a camera that was lost numbers its frames on, and times tell
// how long it was away. Times that jitter by less than half of an interval tell of none.
func (p *pace) lost(z *latent.Sight) int {
	const (
		gain = 0.1 // the mean of ten frames
		most = 0.5 // of the interval, by which a frame counts as off at most: one that comes hours later moves the mean by a twentieth
		far  = 1.5 // times what the numbers say
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
