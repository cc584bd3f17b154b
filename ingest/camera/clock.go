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

// cadence finds gaps in the time stamps and counts the frames lost there, which the camera made but the source did not receive. A camera makes frames at even
// steps. Software stamps can be late by up to a period, but most are not. cadence therefore places a grid of ticks at the times of most stamps. When it finds a
// better grid, it adds missing frames that the former grid did not count, and never subtracts any. The zero value learns the period.
type cadence struct {
	period float64   // seconds; 0 until known
	tick   float64   // time of a tick of the grid
	index  float64   // index of that tick
	given  float64   // index of the last frame's tick
	first  float64   // stamp that started the grid; it counts as on a tick until later stamps show that it was late
	origin float64   // index of that stamp's tick
	set    bool      // the ticks lie where most stamps are
	stamps []float64 // the latest, at most window+1
	room   []float64 // scratch memory for sorting
}

const (
	window   = 32   // steps between two checks of period and ticks
	learning = 16   // equal steps that define an unknown period
	steady   = 28   // equal steps that override the expected period
	alike    = 0.1  // relative tolerance of equal steps
	early    = 0.03 // fraction of a period that a stamp may precede its tick
	gain     = 0.25 // gain of the period correction of a steady camera
	tries    = 64   // most periods tried above and below
	clearly  = 4    // number of stamps by which a tried period must match more than the expected one
)

// missed returns the number of frames missing directly before the frame with stamp t. t is in seconds and must be later than the previous stamp. warning is not
// empty if the frame rate changed or differs from the expected rate.
func (c *cadence) missed(t float64) (missing uint64, warning string) {
	c.stamps = append(c.stamps, t)
	if len(c.stamps) == 1 {
		c.begin(c.period)
		return 0, ""
	}
	if c.period > 0 {
		c.advance(t)
		// Each tick counts as one frame. A stamp that was late by nearly a period made a frame count too early; it does not count again.
		missing = uint64(math.Min(math.Max(c.index-c.given-1, 0), 1<<40))
		c.given = math.Max(c.index, c.given+1)
	}
	if len(c.stamps) > window {
		warning = c.learn()
		c.stamps = append(c.stamps[:0], t)
	}
	return missing, warning
}

// begin starts a new grid with a tick at the last stamp.
func (c *cadence) begin(period float64) {
	c.period, c.tick, c.set = period, c.stamps[len(c.stamps)-1], false
	c.first, c.origin, c.given = c.tick, c.index, c.index
}

// advance moves to the tick of a stamp.
func (c *cadence) advance(t float64) {
	n := math.Floor((t-c.tick)/c.period + early)
	c.index += n
	c.tick += n * c.period
}

// learn corrects the grid with the latest stamps. If the stamps fit no nearby grid, enough equal steps start a new one.
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
		warning = fmt.Sprintf("a frame arrives every %.4g s, every %.4g s expected: to make the camera faster, shorten the exposure or choose a smaller region; to lose fewer frames, use a faster connection", step, c.period)
	}
	c.begin(step)
	return warning
}

// settle moves the ticks to the times of most of the latest stamps and corrects the period, if at least half of the stamps match. For a new grid it also tries
// slightly longer and shorter periods, and corrects the tick of the first stamp.
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

// densest returns the offset of a grid of ticks one period apart for which most stamps lie shortly after a tick, and their number. The offset is measured from
// the last stamp, in periods, and is zero or negative.
func (c *cadence) densest(period float64) (begin float64, most int) {
	last := c.stamps[len(c.stamps)-1]
	late := c.room[:0]
	for _, s := range c.stamps {
		_, rest := math.Modf((s - last) / period) // zero or negative
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

// common returns the mean of the smallest group of equal steps with at least enough members, or 0.
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

// cameraClock turns the camera's own stamps into acquisition times. It is set to the host's clock at the first frame, and again at each reopening of the
// camera, where times continue. If the camera reports its wall clock, cameraClock uses the reported time (walltime.go).
type cameraClock struct {
	cadence  cadence
	sparse   bool      // frames are triggered, so a gap is no loss
	zero     time.Time // host time, or camera wall time if absolute, when the camera's clock was 0
	absolute bool      // set before the first frame
	set      string    // warning for the next frame: the clock was set
	lost     uint64    // frames lost before the next one
	stamp    time.Duration
	seq      uint64 // number of the next frame, missing frames not counted
	frames   frame.Pool
}

// frame numbers and times mat, and takes ownership of it.
func (c *cameraClock) frame(mat gocv.Mat, stamp time.Duration, arrived time.Time) *frame.Frame {
	t, missing, warning := c.stamped(stamp, arrived)
	if c.sparse {
		missing, warning = 0, ""
	}
	if c.lost > missing {
		c.cadence.given += float64(c.lost - missing) // do not count the lost frames again
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

// stamped returns the acquisition time of a frame and the number of frames missing before it. stamp is negative if the frame
// has none.
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
		warning = "the camera set its clock back: from here on its times start again at this computer's clock"
	}
	c.stamp = stamp
	missing, rate := c.cadence.missed(stamp.Seconds())
	if rate != "" {
		warning = rate
	}
	return c.zero.Add(stamp), missing, warning
}
