package camera

import (
	"fmt"
	"time"
)

// Limits on wall clock reports of a camera. By RFC 3550 the first report comes within 3.75 s: 5 s times 1/2 times at most 1.5. GStreamer's server sends it
// within 3.1 s, because 6.3.1 divides by e-3/2. Many cameras send the first report at once. The wait for a report ends before stall_after, 5 s.
const (
	reportWait = 4 * time.Second
	slew       = 500e-6      // largest correction per elapsed time, like adjtime's: it changes a frame interval by at most 1 in 2000
	jump       = time.Second // a larger difference means that the clock was set
)

// timing chooses the time base of one connection's stamps: the wall clock that the camera reports, or this computer's clock
// at the first frame.
type timing struct {
	reports  bool      // wait for reports
	zero     time.Time // camera wall time at stamp 0, from the last report; zero before the first report
	deadline time.Time // end of the wait
	settled  bool
	tied     bool // tied to reports
	last     time.Duration
}

// begin starts the wait when the camera begins to send.
func (t *timing) begin(now time.Time) { t.deadline = now.Add(reportWait) }

// settle ties clock to the time base. It returns false while a report may still come; no frame can be returned until then. told describes the time base, for
// the first frame.
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
		return true, "frame times follow the clock that the camera reports: " + t.behind(arrived.Sub(t.zero.Add(stamp)))
	}
	if t.tied {
		clock.correct(t.zero.Sub(clock.zero), stamp-t.last)
	}
	t.last = stamp
	return true, ""
}

// behind describes the delay of a frame between two clocks.
func (t *timing) behind(late time.Duration) string {
	if late < 0 {
		return fmt.Sprintf("that clock is ahead of this computer's by %v or more", -late.Round(time.Millisecond))
	}
	return fmt.Sprintf("by both clocks, the first frame arrived %v after its acquisition", late.Round(time.Millisecond))
}

func (t *timing) untied() string {
	if !t.reports {
		return "frame times are the camera's time stamps, tied to this computer's clock at the first frame"
	}
	return fmt.Sprintf("the camera reported no clock within %v: frame times are its time stamps, tied to this computer's clock at the first frame", reportWait)
}

// correct moves the clock towards the reported time. off is the lead of the camera's reported clock; step is the time since the last frame. It corrects slowly,
// but at once if off exceeds jump, because the camera's clock was then set.
func (c *cameraClock) correct(off, step time.Duration) {
	if off.Abs() > jump {
		c.zero = c.zero.Add(off)
		c.set = fmt.Sprintf("the camera's clock was changed by %v: one time step is wrong by this amount", off.Round(time.Millisecond))
		return
	}
	most := time.Duration(slew * float64(max(step, 0)))
	c.zero = c.zero.Add(min(max(off, -most), most))
}
