package objects

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
)

// pace measures the frame interval and estimates from the frames' times how many frames are missing.
type pace struct {
	interval float64 // s per frame; 0 before the second frame
	seq      uint64  // of the last frame
	at       time.Time
}

// lost returns the number of frames missing before z in addition to the gap in frame numbers. A camera that was disconnected continues its numbers, and only
// the times show the pause. Jitter below half an interval counts no frame.
func (p *pace) lost(z *latent.Sight) int {
	const (
		gain = 0.1 // averages over ten frames
		most = 0.5 // largest relative deviation of one frame; a frame hours later changes the mean by a twentieth
		far  = 1.5 // smallest ratio of the pause to the gap in numbers that counts
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
