package law

import (
	"math"

	"driftscope/internal/job/evaluation/tracking"
	"driftscope/online/maps"
	"driftscope/sinks/message"
)

const (
	fewestMapped = 2000 // steps: two per cell of the finest grid, as in a live run
	mostSide     = tracking.MostPlace
)

// box is the area of a map, px.
type box struct{ x, y, width, height float64 }

// box returns the area of all positions, or of a film with a known size.
func (f *film) box(width, height float64) box {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i := range f.all {
		for _, p := range f.all[i].points {
			for axis, v := range [2]float64{p.X, p.Y} {
				low[axis], high[axis] = min(low[axis], v), max(high[axis], v)
			}
		}
	}
	for axis, side := range [2]float64{width, height} {
		if side > 0 {
			low[axis], high[axis] = 0, side
		}
	}
	const least = 1.0 // px, so that tracks along a line have an area
	b := box{low[0], low[1], max(high[0]-low[0], least), max(high[1]-low[1], least)}
	b.width, b.height = b.width*(1+1e-9), b.height*(1+1e-9) // so that it contains the largest coordinates
	return b
}

// fieldMap returns drift and D as functions of position, and the number of steps outside the map. It returns nil if there are too few steps.
func (f *film) fieldMap(width, height, noise float64) (r *message.MapRecord, outside int) {
	steps := 0
	for i := range f.segments {
		steps += len(f.segments[i].Steps)
	}
	b := f.box(width, height)
	m, err := maps.New(maps.Config{Width: b.width, Height: b.height})
	if steps < fewestMapped || err != nil {
		return nil, 0
	}
	noise /= f.pixel
	for i := range f.segments {
		var before maps.Before
		for k, s := range f.segments[i].Steps {
			from := &f.used[i].points[k]
			dx, dy := s.X/f.pixel, s.Y/f.pixel
			m.Add(&maps.Step{X: from.X - b.x, Y: from.Y - b.y, DX: dx, DY: dy, DT: s.DT, Variance: noise * noise, Weight: 1, Before: before})
			before = maps.Before{DX: dx, DY: dy, Weight: 1}
		}
	}
	l := m.Law(nil)
	for _, list := range [][]maps.Place{l.Traps, l.Vortices} {
		for i := range list {
			list[i].X, list[i].Y = list[i].X+b.x, list[i].Y+b.y
		}
	}
	outside = int(math.Round(m.Outside()))
	if len(l.Cells) == 0 {
		return nil, outside
	}
	r = &message.MapRecord{Says: l.Says()}
	for i := range l.Cells {
		c := &l.Cells[i]
		r.X, r.Y, r.Width = append(r.X, b.x+c.X+c.Side/2), append(r.Y, b.y+c.Y+c.Side/2), append(r.Width, c.Side)
		r.DriftX, r.DriftY, r.SD = append(r.DriftX, c.Drift[0]), append(r.DriftY, c.Drift[1]), append(r.SD, math.Sqrt((c.SD[0]*c.SD[0]+c.SD[1]*c.SD[1])/2))
		r.D, r.DSD, r.Steps = append(r.D, c.D), append(r.DSD, c.DSD), append(r.Steps, c.Steps)
	}
	return r, outside
}
