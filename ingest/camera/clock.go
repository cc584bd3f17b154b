package camera

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/floats"

	"driftscope/internal/flow/frame"
)

// cadence counts the frames that a camera made and nobody got, by the gaps in its timestamps. A camera makes frames at even steps; a stamp
// may be late, where software sets it, by up to a period, but most are not. So frames are laid on a grid of ticks which begin where the
// most stamps lie. The missing frames that were counted never fall behind the grid: when a better one is found, those that the former left out are counted then. The zero
// value learns the period.
type cadence struct {
	period float64   // seconds; 0 is not known yet
	tick   float64   // a time on the grid,
	index  float64   // and which it is
	given  float64   // the tick that the last frame was given
	first  float64   // the stamp that the grid was begun with, at a tick until it was found to be late,
	origin float64   // and which tick that was
	set    bool      // the ticks are where the most stamps are
	stamps []float64 // the latest, at most window+1
	room   []float64 // to sort in
}

const (
	window   = 32   // steps between two looks at period and ticks
	learning = 16   // of them, alike, make a period where none is known,
	steady   = 28   // and these the camera's, whatever it was said to be
	alike    = 0.1  // relative difference of steps that are the same, up and down
	early    = 0.03 // of a period: how far a stamp may be ahead of its tick
	gain     = 0.25 // of a difference that a steady camera's period is corrected by
	tries    = 64   // periods that are tried up and down, at most,
	clearly  = 4    // and of the stamps that one must bring onto its ticks more than the expected period
)

// missed returns how many frames are missing right before the one that is stamped t seconds, later than the one before. warning is not
// empty where frames come at another rate than they did or were expected to.
func (c *cadence) missed(t float64) (missing uint64, warning string) {
	c.stamps = append(c.stamps, t)
	if len(c.stamps) == 1 {
		c.begin(c.period)
		return 0, ""
	}
	if c.period > 0 {
		c.advance(t)
		// A frame for every tick: one that was counted too many is not counted again, where a stamp was late by nearly a period.
		missing = uint64(math.Min(math.Max(c.index-c.given-1, 0), 1<<40))
		c.given = math.Max(c.index, c.given+1)
	}
	if len(c.stamps) > window {
		warning = c.learn()
		c.stamps = append(c.stamps[:0], t)
	}
	return missing, warning
}

// begin lays a new grid, with a tick at the last stamp.
func (c *cadence) begin(period float64) {
	c.period, c.tick, c.set = period, c.stamps[len(c.stamps)-1], false
	c.first, c.origin, c.given = c.tick, c.index, c.index
}

// advance goes to the tick of a stamp.
func (c *cadence) advance(t float64) {
	n := math.Floor((t-c.tick)/c.period + early)
	c.index += n
	c.tick += n * c.period
}

// learn corrects the grid by the latest stamps; where they lie on none near it, enough steps that are alike begin another.
func (c *cadence) learn() (warning string) {
	if c.period == 0 {
		if step := c.common(learning); step > 0 {
			c.begin(step)
		}
		return ""
	}
	sure := c.settle()
	step := c.common(steady)
	off := math.Abs(step-c.period) / c.period
	if step == 0 || off < alike/10 || off < alike && sure {
		return ""
	}
	if off > alike {
		warning = fmt.Sprintf("frames come every %.4g s, every %.4g s expected: a shorter exposure or a smaller region makes the camera faster, a faster connection loses less", step, c.period)
	}
	c.begin(step)
	return warning
}

// settle moves the ticks to where most of the latest stamps lie, and corrects the period, if half of them lie there. A new grid's period
// is tried a little longer and shorter, and its first stamp is given the tick that it must have been of.
func (c *cadence) settle() (sure bool) {
	span := (c.stamps[window] - c.stamps[0]) / c.period // ticks
	period := c.period
	begin, most := c.densest(period)
	if !c.set {
		for i := range min(tries, int(2*span)) {
			change := float64(i+1) * alike / 2 / span
			for _, p := range [...]float64{c.period * (1 + change), c.period * (1 - change)} {
				if b, n := c.densest(p); n > most+clearly {
					period, begin, most = p, b, n-clearly
				}
			}
		}
	}
	if most < window/2 {
		return false
	}
	shift := (c.stamps[window]-c.tick)/period + begin
	shift -= math.Round(shift)
	if c.set {
		period *= 1 + gain*shift/span
	}
	c.period = period
	c.tick += shift * period
	if !c.set {
		tick := c.index + math.Floor((c.first-c.tick)/period+early)
		c.given += tick - c.origin
		c.set = true
	}
	c.advance(c.stamps[window])
	return true
}

// densest is where the most of the stamps lie closely behind ticks one period apart: in periods after the last stamp, none or less.
func (c *cadence) densest(period float64) (begin float64, most int) {
	last := c.stamps[len(c.stamps)-1]
	late := c.room[:0]
	for _, s := range c.stamps {
		_, rest := math.Modf((s - last) / period) // none or negative
		late = append(late, rest, rest-1)
	}
	slices.Sort(late)
	for i, l := range late {
		if n, _ := slices.BinarySearch(late[i:], l+alike); n > most {
			begin, most = l, n
		}
	}
	c.room = late
	return begin, most
}

// common is the mean of the smallest steps that are alike, if they are enough; else 0.
func (c *cadence) common(enough int) float64 {
	steps := c.room[:0]
	for i, s := range c.stamps[1:] {
		steps = append(steps, s-c.stamps[i])
	}
	slices.Sort(steps)
	c.room = steps
	for i, s := range steps {
		if n, _ := slices.BinarySearch(steps[i:], s*(1+2*alike)); n >= enough && s > 0 {
			return floats.Sum(steps[i:i+n]) / float64(n)
		}
	}
	return 0
}

// cameraClock makes acquisition times of a camera's own, which begin anywhere: it is set by the host's clock once, at the first frame. A
// camera that is opened again is set again, so that its times go on. A camera that reports its wall clock is timed by that (walltime.go).
type cameraClock struct {
	cadence  cadence
	sparse   bool      // frames come when they are triggered: a gap is no loss
	zero     time.Time // of the host, when the camera's clock was 0; or of the camera's wall clock, where it is
	absolute bool      // set before the first frame
	set      string    // a warning for the next frame: that clock was set
	lost     uint64    // frames before the next one that are known not to be given
	stamp    time.Duration
	seq      uint64 // of the next frame, those that are missing not counted
	frames   frame.Pool
}

// frame numbers and times mat, which it owns from now on.
func (c *cameraClock) frame(mat gocv.Mat, stamp time.Duration, arrived time.Time) *frame.Frame {
	t, missing, warning := c.stamped(stamp, arrived)
	if c.sparse {
		missing, warning = 0, ""
	}
	if c.lost > missing {
		c.cadence.given += float64(c.lost - missing) // not to be counted again
		missing = c.lost
	}
	c.lost = 0
	f := c.frames.New(c.seq+missing, t, frame.Meta{Arrived: arrived, Dropped: missing}, mat)
	if warning != "" {
		f.Notice(true, "frame_rate", warning)
	}
	if c.set != "" {
		f.Notice(true, "camera_clock", c.set)
		c.set = ""
	}
	c.seq = f.Seq + 1
	return f
}

// stamped is the acquisition time of a frame with a timestamp, negative where it has none, and what is missing before it.
func (c *cameraClock) stamped(stamp time.Duration, arrived time.Time) (t time.Time, missing uint64, warning string) {
	if stamp < 0 {
		return arrived.Round(0).UTC(), 0, ""
	}
	switch {
	case len(c.cadence.stamps) == 0 && c.absolute:
	case len(c.cadence.stamps) == 0:
		c.zero = arrived.Round(0).UTC().Add(-stamp)
	case stamp <= c.stamp:
		c.zero = arrived.Round(0).UTC().Add(-stamp)
		c.cadence = cadence{period: c.cadence.period}
		warning = "the camera set its clock back: its times were tied to this computer's again"
	}
	c.stamp = stamp
	missing, rate := c.cadence.missed(stamp.Seconds())
	if rate != "" {
		warning = rate
	}
	return c.zero.Add(stamp), missing, warning
}
