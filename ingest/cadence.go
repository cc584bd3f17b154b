package ingest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/floats"

	"driftscope/internal/frame"
)

// cadence counts the frames that a camera made and nobody got, by the gaps in its timestamps. A camera makes frames at even steps; a stamp
// may be late, where software sets it, by up to a period, but most are not. So frames are laid on a grid of ticks which begin where the
// most stamps lie. The zero value learns the period.
type cadence struct {
	period float64 // seconds; 0 is not known yet
	tick   float64 // a time on the grid,
	index  float64 // and which it is
	told   float64 // the tick that the last frame was told to be of
	last   float64 // stamp
	begun  bool
	set    bool      // the ticks are where the most stamps are
	steps  []float64 // from stamp to stamp, the latest, at most window
	late   []float64 // how far behind their ticks the stamps were, in periods
}

const (
	window   = 32   // steps between two looks at period and ticks
	learning = 16   // of them, alike, make a period where none is known,
	steady   = 28   // and these the camera's, whatever it was said to be
	alike    = 0.1  // relative difference of steps that are the same, up and down
	early    = 0.03 // of a period: how far a stamp may be ahead of its tick
	gain     = 0.25 // of a difference that a steady camera's period is corrected by
)

// missed returns how many frames are missing right before the one that is stamped t seconds, later than the one before. warning is not
// empty where frames come at another rate than they did or were expected to.
func (c *cadence) missed(t float64) (missing uint64, warning string) {
	if !c.begun {
		c.begun, c.last, c.tick = true, t, t
		return 0, ""
	}
	c.steps = append(c.steps, t-c.last)
	c.last = t
	if c.period > 0 {
		c.late = append(c.late, c.advance(t))
		// A frame for every tick: one too many that was told is not told again, should a stamp have been late by nearly a period.
		missing = uint64(math.Min(math.Max(c.index-c.told-1, 0), 1<<40))
		c.told = math.Max(c.index, c.told+1)
	}
	if len(c.steps) == window {
		warning = c.learn()
		c.steps, c.late = c.steps[:0], c.late[:0]
	}
	return missing, warning
}

// advance goes to the tick of a stamp and returns how late it is, in periods.
func (c *cadence) advance(t float64) (late float64) {
	n := math.Floor((t-c.tick)/c.period + early)
	c.index += n
	c.tick += n * c.period
	return (t - c.tick) / c.period
}

// learn corrects the period by the smallest step that enough of the latest are alike to, and the ticks by the stamps.
func (c *cadence) learn() (warning string) {
	enough := learning
	if c.period > 0 {
		enough = steady
	}
	step := common(c.steps, enough)
	switch {
	case c.period == 0 || step > 0 && math.Abs(step-c.period) > alike*c.period:
		if c.period > 0 {
			warning = fmt.Sprintf("frames come every %.4g s, every %.4g s expected: a shorter exposure or a smaller region makes the camera faster, a faster connection loses less", step, c.period)
		}
		c.period, c.tick, c.set = step, c.last, false
		c.told = c.index
		return warning
	case step > 0:
		c.period += gain * (step - c.period)
	}
	if shift, sure := crowd(c.late); sure {
		c.tick += shift * c.period
		c.advance(c.last)
		if !c.set || math.Abs(shift) > alike {
			c.told, c.set = c.index, true
		}
	}
	return ""
}

// crowd is where most of the stamps lie closely together, in periods from their ticks, at most a half; sure says that half of them do.
func crowd(late []float64) (begin float64, sure bool) {
	slices.Sort(late)
	most := 0
	for i, l := range late {
		n, _ := slices.BinarySearch(late[i:], l+alike)
		if over, _ := slices.BinarySearch(late, l+alike-1); over < i {
			n += over // the end of a period is the beginning of the next
		}
		if n > most {
			begin, most = l, n
		}
	}
	return begin - math.Round(begin), most >= window/2
}

// common is the mean of the smallest steps that are alike, if they are enough; else 0. It sorts the steps.
func common(steps []float64, enough int) float64 {
	slices.Sort(steps)
	for i, s := range steps {
		if n, _ := slices.BinarySearch(steps[i:], s*(1+2*alike)); n >= enough && s > 0 {
			return floats.Sum(steps[i:i+n]) / float64(n)
		}
	}
	return 0
}

// cameraClock makes acquisition times of a camera's own, which begin anywhere: it is set by the host's clock once, at the first frame. A
// camera that is opened again is set again, so that its times go on.
type cameraClock struct {
	cadence
	sparse bool      // frames come when they are triggered: a gap is no loss
	zero   time.Time // of the host, when the camera's clock was 0
	stamp  time.Duration
	seq    uint64 // of the next frame, those that are missing not counted
	frames frame.Pool
}

// frame numbers and times mat, which it owns from now on.
func (c *cameraClock) frame(mat gocv.Mat, stamp time.Duration, arrived time.Time) *frame.Frame {
	t, missing, warning := c.stamped(stamp, arrived)
	if c.sparse {
		missing, warning = 0, ""
	}
	f := c.frames.New(c.seq+missing, t, frame.Meta{Arrived: arrived, Dropped: missing}, mat)
	if warning != "" {
		f.Notice(true, "frame_rate", warning)
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
	case !c.begun:
		c.zero = arrived.Round(0).UTC().Add(-stamp)
	case stamp <= c.stamp:
		c.zero = arrived.Round(0).UTC().Add(-stamp)
		c.cadence = cadence{period: c.period}
		warning = "the camera set its clock back: its times were tied to this computer's again"
	}
	c.stamp = stamp
	missing, rate := c.missed(stamp.Seconds())
	if rate != "" {
		warning = rate
	}
	return c.zero.Add(stamp), missing, warning
}
