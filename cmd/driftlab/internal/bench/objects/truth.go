package objects

import (
	"math"
	"slices"

	"driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
)

// faint is the fraction of full light below which an object is invisible; bleached objects end there.
const faint = 0.1

// lit returns the visible objects of a frame.
func lit(points []field.Point) []field.Point {
	if !slices.ContainsFunc(points, dark) {
		return points
	}
	return slices.DeleteFunc(slices.Clone(points), dark)
}

func dark(p field.Point) bool { return p.Light < faint }

// truths returns a field's true tracks.
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

// isolation is the distance of an isolated spot from all others, px: beyond the reach of two templates.
const isolation = 12.0

// isolated sums the errors of detected isolated objects.
type isolated struct {
	square float64 // px², per axis
	n      int
}

// add includes a frame: its visible objects and the detected ones.
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

// rmse returns the error per axis, or 0 without objects.
func (e *isolated) rmse() float64 { return math.Sqrt(e.square / float64(max(1, e.n))) }
