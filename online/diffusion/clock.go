// Increments
//
// Clock decides which latents form increments. Series and Track hold lists of latents.
//
// A trajectory is a stretch of latents of one object with its own number. An increment is the difference of two consecutive latents of a trajectory, over the
// time between their acquisitions:
//
//	Clock    for a stream: the time since the previous latent of the increment, 0 if there is none
//	Series   one coordinate of a complete path
//	Track    many latents in reused memory; the oldest are dropped first
//
// In all three, a time step of 0 marks a latent without a preceding partner. No increment spans two trajectories or a gap longer than MaxGap. A clock that
// stops or runs backwards is an error (ErrTimeOrder), and so is a latent that no law can be fitted to (ErrLatent). Only this package detects them.

package diffusion

import (
	"errors"
	"fmt"
	"math"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
)

// ErrTimeOrder reports a latent whose time is not after the latent before it in its trajectory.
var ErrTimeOrder = errors.New("acquisition times must increase")

// ErrLatent reports a latent that no law can be fitted to: of another dimension, not finite, or absurdly large.
var ErrLatent = errors.New("unusable latent")

// MaxLatent is the largest usable |z|. Beyond it, sums of squares lose precision. Trained latents are of order one.
const MaxLatent = 1e9

// Check returns an error for a latent that no law in dim dimensions can be fitted to.
func Check(z *latent.Latent, dim int) error {
	if len(z.Mean) != dim {
		return fmt.Errorf("frame %d: %w: %d dimensions, expected %d: use the encoder that the estimator was made for", z.Seq, ErrLatent, len(z.Mean), dim)
	}
	for i, v := range z.Mean {
		if !(math.Abs(v) <= MaxLatent) {
			return fmt.Errorf("frame %d: %w: coordinate %d is %g, expected a number within ±%g: check the picture and the preprocessing", z.Seq, ErrLatent, i, v, MaxLatent)
		}
	}
	return nil
}

// Clock decides which latents form increments and over which time steps: consecutive latents of one trajectory, at most MaxGap apart.
type Clock struct {
	MaxGap time.Duration // 0: no limit

	linked     bool // the last latent may form an increment with the next
	trajectory uint64
	time       time.Time
}

// Advance moves the clock to z. It returns the time since the previous latent if z forms an increment with it, s, otherwise 0. After ErrTimeOrder the next
// latent forms no increment either, so one bad reading costs one increment.
func (c *Clock) Advance(z *latent.Latent) (dt float64, err error) {
	same, before := c.linked && z.Trajectory == c.trajectory, c.time
	c.trajectory, c.time, c.linked = z.Trajectory, z.Time, true
	if !same {
		return 0, nil
	}
	gap := z.Time.Sub(before)
	if gap <= 0 {
		c.linked = false
		return 0, fmt.Errorf("frame %d: %w: taken at %s, %v before the previous frame: check the source's clock", z.Seq, ErrTimeOrder, z.Time.Format(time.RFC3339Nano), -gap)
	}
	if c.MaxGap > 0 && gap > c.MaxGap {
		return 0, nil
	}
	return gap.Seconds(), nil
}

// TooLong reports whether dt seconds are too long for an increment.
func (c *Clock) TooLong(dt float64) bool { return c.MaxGap > 0 && dt > c.MaxGap.Seconds() }

// Cut prevents an increment from leading to the next latent.
func (c *Clock) Cut() { c.linked = false }

// Archive reads or writes the last latent's time and trajectory, without MaxGap.
func (c *Clock) Archive(a *archive.Codec) {
	a.Bool(&c.linked)
	a.Uint(&c.trajectory)
	a.Time(&c.time)
}
