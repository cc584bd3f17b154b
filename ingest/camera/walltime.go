package camera

import (
	"fmt"
	"time"
)

// What a camera's reports of its wall clock may do. A camera of RFC 3550 sends its first within 3.75 s, 5 s times 1/2 times at most 1.5, and GStreamer's server
// within 3.1 s, by the division by e-3/2 in 6.3.1; many send one at once. The wait ends before stall_after, 5 s.
const (
	reportWait = 4 * time.Second
	slew       = 500e-6      // of the time that went by, as adjtime does: a step of the law is a two-thousandth off at most
	jump       = time.Second // beyond, the clock was set
)

// timing decides, for one connection, what a network camera's stamps are tied to: the wall clock that it reports, or this computer's at the first frame.
type timing struct {
	reports  bool      // wait for them
	zero     time.Time // by the last report: the camera's wall clock when its stamp was 0; zero where none came
	deadline time.Time // when the waiting ends
	settled  bool
	tied     bool // by reports
	last     time.Duration
}

// begin is when the camera has begun to send.
func (t *timing) begin(now time.Time) { t.deadline = now.Add(reportWait) }

// settle ties clock. false says that a report may still come: the frame should be given to nobody. told is of the first frame: what its time is.
func (t *timing) settle(clock *cameraClock, stamp time.Duration, arrived time.Time) (settled bool, told string) {
	known := t.reports && !t.zero.IsZero()
	if !t.settled {
		if t.reports && !known && arrived.Before(t.deadline) {
			return false, ""
		}
		t.settled, t.tied, t.last = true, known, stamp
		if !known {
			return true, t.untied()
		}
		clock.zero, clock.absolute = t.zero, true
		return true, "frame times are the camera's clock, which it reports: " + t.behind(arrived.Sub(t.zero.Add(stamp)))
	}
	if t.tied {
		clock.correct(t.zero.Sub(clock.zero), stamp-t.last)
	}
	t.last = stamp
	return true, ""
}

// behind says how long a frame was under way, by two clocks.
func (t *timing) behind(late time.Duration) string {
	if late < 0 {
		return fmt.Sprintf("it is ahead of this computer's by %v or more", -late.Round(time.Millisecond))
	}
	return fmt.Sprintf("by it and this computer's, the first frame came %v after it was taken", late.Round(time.Millisecond))
}

func (t *timing) untied() string {
	if !t.reports {
		return "frame times are the camera's time stamps, tied to this computer's clock at the first frame"
	}
	return fmt.Sprintf("the camera reported no clock within %v: frame times are its time stamps, tied to this computer's clock at the first frame", reportWait)
}

// correct moves the clock by off, slowly: off is what the camera says that its clock is ahead, step the time since the last frame. What is more than
// a jump is a clock that was set, and followed at once.
func (c *cameraClock) correct(off, step time.Duration) {
	if off.Abs() > jump {
		c.zero = c.zero.Add(off)
		c.set = fmt.Sprintf("the camera's clock was set, by %v: one step over that is wrong", off.Round(time.Millisecond))
		return
	}
	most := time.Duration(slew * float64(max(step, 0)))
	c.zero = c.zero.Add(min(max(off, -most), most))
}
