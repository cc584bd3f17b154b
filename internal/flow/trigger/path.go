package trigger

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
)

// marks is the number of intervals into which the averaging time is divided. It limits the memory of a path at any frame rate.
const marks = 64

// path holds the positions of the centroid within the averaging time of its velocity.
type path struct {
	over       time.Duration
	unit       float64 // side of a pixel
	trajectory uint64
	points     []point // ascending in time, at least over/marks apart
}

type point struct {
	at   time.Time
	x, y float64
}

func newPath(over time.Duration, unit float64) *path {
	return &path{over: over, unit: unit, points: make([]point, 0, marks+2)}
}

// speed returns the mean speed of the centroid over the time p.over, or since the last point before it. The speed is unknown without a centroid, and until the
// trajectory has lasted that long. The path restarts after the object was lost, because the centroid belonged to something else.
func (p *path) speed(e *latent.Estimate) (v float64, known bool) {
	if lost(e) {
		p.points = p.points[:0]
		return 0, false
	}
	c, now := e.Latent.Centroid, e.Latent.Time
	if len(c) != 2 {
		return 0, false
	}
	if n := len(p.points); e.Latent.Trajectory != p.trajectory || n > 0 && now.Before(p.points[n-1].at) {
		p.points, p.trajectory = p.points[:0], e.Latent.Trajectory
	}
	p.forget(now)
	if len(p.points) > 0 {
		first := p.points[0]
		since := now.Sub(first.at)
		v, known = p.unit*math.Hypot(c[0]-first.x, c[1]-first.y)/since.Seconds(), since >= p.over
	}
	if n := len(p.points); n == 0 || now.Sub(p.points[n-1].at) >= p.over/marks {
		p.points = append(p.points, point{now, c[0], c[1]})
	}
	return v, known
}

// forget drops all points before the newest one that is at least p.over old.
func (p *path) forget(now time.Time) {
	old := 0
	for old+1 < len(p.points) && now.Sub(p.points[old+1].at) >= p.over {
		old++
	}
	p.points = p.points[:copy(p.points, p.points[old:])]
}
