package population

import "math"

// commonMemory is the approximate averaging time of the common motion in frames: a stage drifts over minutes, and one or two frames cannot resolve 1 px/s.
// leastShared is the least number of objects with a common motion.
const (
	commonMemory = 50.0
	leastShared  = 3
)

// Common is the velocity that the objects of a field share, px/s, due to the stage or a flowing medium.
//
// The mean velocity of independent objects is zero within its standard error, which follows from the spread between objects. Common shrinks the mean towards
// zero by the fraction that is due to chance, v (1 - SE²/v²)⁺ (James and Stein, positive part), so it needs no threshold.
type Common struct {
	X, Y float64 // px/s
	SD   float64 // standard error per axis, px/s

	x, y, seconds  float64 // Σ over tracks
	xx, yy, xs, ys float64 // Σ of products, for the variance between tracks
	ss, tracks     float64
}

// Begin forgets the tracks but not the velocity.
func (c *Common) Begin() { *c = Common{X: c.X, Y: c.Y, SD: c.SD} }

// Add adds the recent motion of a track.
func (c *Common) Add(l *Law) {
	r := l.recent
	if r.seconds <= 0 {
		return
	}
	c.x, c.y, c.seconds = c.x+r.x, c.y+r.y, c.seconds+r.seconds
	c.xx, c.yy, c.ss = c.xx+r.x*r.x, c.yy+r.y*r.y, c.ss+r.seconds*r.seconds
	c.xs, c.ys = c.xs+r.x*r.seconds, c.ys+r.y*r.seconds
	c.tracks++
}

// End computes the velocity of the added tracks.
func (c *Common) End() {
	if c.tracks < leastShared {
		c.X, c.Y, c.SD = 0, 0, 0
		return
	}
	vx, vy := c.x/c.seconds, c.y/c.seconds
	square := (c.xx - 2*vx*c.xs + vx*vx*c.ss + c.yy - 2*vy*c.ys + vy*vy*c.ss) / 2
	variance := max(square, 0) / (c.seconds * c.seconds) * c.tracks / (c.tracks - 1)
	keep := 0.0
	if v := (vx*vx + vy*vy) / 2; v > 0 {
		keep = max(1-variance/v, 0)
	}
	c.X, c.Y, c.SD = keep*vx, keep*vy, math.Sqrt(variance)
}
