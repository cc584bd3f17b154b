package objects

import (
	"math"
	"slices"

	"driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/online/tracks"
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

// links are the steps of known probability: their number, the expected wrong ones and the true wrong ones.
type links struct{ n, expected, wrong float64 }

// linkJudge compares the probabilities of steps with the truth.
type linkJudge struct {
	links
	object map[field.Point]int // by place
	of     [][]int             // objects of the detections, by frame
	last   map[uint64]int      // object of the last detection of a number
}

func newLinkJudge(f *field.Field) *linkJudge {
	j := &linkJudge{object: map[field.Point]int{}, last: map[uint64]int{}}
	for i, track := range f.Tracks {
		for _, p := range track {
			j.object[p] = i
		}
	}
	return j
}

// see adds the detected places of the next frame.
func (j *linkJudge) see(visible []field.Point) {
	objects := make([]int, len(visible))
	for i, p := range visible {
		objects[i] = j.object[p]
	}
	j.of = append(j.of, objects)
}

// add adds the points of a frame.
func (j *linkJudge) add(frame int, points []tracks.Point) {
	for i := range points {
		p := &points[i]
		if p.Detection < 0 {
			continue
		}
		before, linked := j.last[p.ID]
		object := j.of[frame][p.Detection]
		if j.last[p.ID] = object; !linked || !p.Confirmed || math.IsNaN(p.Link) {
			continue
		}
		if j.n, j.expected = j.n+1, j.expected+1-p.Link; before != object {
			j.wrong++
		}
	}
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
