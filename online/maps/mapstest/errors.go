package mapstest

import (
	"math"
	"slices"
)

// Square is a square of the field in which steps began.
type Square struct {
	Steps float64
	At    [2]float64 // mean start of the steps, px
}

// Visited returns the squares in which at least ten steps began. Their side is a sixteenth of the field's side.
func (f *Film) Visited(tracks [][][2]float64) []Square {
	const side, least = 16, 10
	all := make([]Square, side*side)
	for _, t := range tracks {
		for _, p := range t[:len(t)-1] {
			i, j := int(p[0]/f.Side*side), int(p[1]/f.Side*side)
			if p[0] >= 0 && p[1] >= 0 && i < side && j < side {
				c := &all[j*side+i]
				c.Steps++
				c.At[0], c.At[1] = c.At[0]+(p[0]-c.At[0])/c.Steps, c.At[1]+(p[1]-c.At[1])/c.Steps
			}
		}
	}
	return slices.DeleteFunc(all, func(c Square) bool { return c.Steps < least })
}

// Missed returns the mean square error of a drift over squares, (px/s)², each square weighted by its steps.
func (l *Law) Missed(squares []Square, drift func(x, y float64) (dx, dy float64)) float64 {
	sum, steps := 0.0, 0.0
	for _, c := range squares {
		a, b := drift(c.At[0], c.At[1])
		x, y := l.Drift(c.At[0], c.At[1])
		sum += c.Steps * ((a-x)*(a-x) + (b-y)*(b-y)) / 2
		steps += c.Steps
	}
	return sum / steps
}

// Off returns the mean square error of a drift over squares, in its standard errors, with equal weights.
func (l *Law) Off(squares []Square, drift func(x, y float64) (mean, sd [2]float64)) float64 {
	sum := 0.0
	for _, c := range squares {
		x, y := l.Drift(c.At[0], c.At[1])
		mean, sd := drift(c.At[0], c.At[1])
		sum += (math.Pow((mean[0]-x)/sd[0], 2) + math.Pow((mean[1]-y)/sd[1], 2)) / 2
	}
	return sum / float64(len(squares))
}
