package replay

import "time"

const (
	longestWait = 10 * time.Second       // longest wait for a frame, so that viewers skip the pauses of a film
	mostLate    = 100 * time.Millisecond // largest delay that is caught up; if reading is too slow, the pace drops
)

// pace computes when frames are due.
type pace struct {
	speed float64 // relative to the film's own pace
	fps   float64 // frames per second instead of speed; 0 uses the times
	begun bool
	seq   uint64    // number of the last frame
	at    time.Time // its acquisition time
	due   time.Time // its due time
}

// next returns when frame seq with acquisition time at is due. A first frame, or the first of a film that restarts, is due now.
func (p *pace) next(seq uint64, at, now time.Time) time.Time {
	if !p.begun {
		p.begun, p.due = true, now
	} else {
		p.due = p.due.Add(p.step(seq, at))
	}
	if latest := now.Add(-mostLate); p.due.Before(latest) {
		p.due = latest
	}
	p.seq, p.at = seq, at
	return p.due
}

// step returns the time between the last frame and the next one.
func (p *pace) step(seq uint64, at time.Time) time.Duration {
	seconds := at.Sub(p.at).Seconds() / p.speed
	if p.fps > 0 {
		seconds = (float64(seq) - float64(p.seq)) / p.fps
	}
	return time.Duration(min(max(seconds, 0), longestWait.Seconds()) * float64(time.Second))
}
