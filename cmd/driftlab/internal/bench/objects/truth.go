package objects

import (
	"math"
	"slices"

	"driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
)

// faint is the share of its full light below which an object cannot be seen; bleached objects have gone there.
const faint = 0.1

// lit is the objects of a frame that can be seen.
func lit(points []field.Point) []field.Point {
	if !slices.ContainsFunc(points, dark) {
		return points
	}
	return slices.DeleteFunc(slices.Clone(points), dark)
}

func dark(p field.Point) bool { return p.Light < faint }

// truths are a field's tracks, to judge others by.
func truths(f *field.Field) (all [][]tracking.Point) {
	for _, track := range f.Tracks {
		points := make([]tracking.Point, len(track))
		for i, p := range track {
			points[i] = tracking.Point{Frame: p.Frame, X: p.X, Y: p.Y, Dark: dark(p)}
		}
		all = append(all, points)
	}
	return all
}

// isolation is how far from all others an isolated spot is, px: beyond the reach of two templates.
const isolation = 12.0

// isolated sums the errors of isolated objects that are found.
type isolated struct {
	square float64 // px² an axis
	n      int
}

// add takes in a frame: the objects that can be seen, and where some were found.
func (e *isolated) add(truth []field.Point, found []tracking.Point) {
	for i, p := range truth {
		if slices.ContainsFunc(truth[:i], near(p)) || slices.ContainsFunc(truth[i+1:], near(p)) {
			continue
		}
		for _, q := range found {
			if r := math.Hypot(p.X-q.X, p.Y-q.Y); r < 3 {
				e.square, e.n = e.square+r*r/2, e.n+1
				break
			}
		}
	}
}

func near(p field.Point) func(field.Point) bool {
	return func(q field.Point) bool { return math.Hypot(p.X-q.X, p.Y-q.Y) < isolation }
}

// rmse is an axis'; 0 without an object.
func (e *isolated) rmse() float64 { return math.Sqrt(e.square / float64(max(1, e.n))) }
