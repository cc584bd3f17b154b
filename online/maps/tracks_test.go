package maps

import (
	"math"
	"math/rand/v2"
	"slices"
)

// law is a drift, px/s, that diffuses by D, px²/s.
type law struct {
	name  string
	drift func(x, y float64) (dx, dy float64)
	d     float64
}

// well is a Gaussian well of stiffness k at its centre and of width w, px.
type well struct{ x, y, k, w float64 }

// wells is the drift of several.
func wells(all ...well) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) {
		for _, o := range all {
			u, v := x-o.x, y-o.y
			pull := o.k * math.Exp(-(u*u+v*v)/(2*o.w*o.w))
			dx, dy = dx-pull*u, dy-pull*v
		}
		return dx, dy
	}
}

// spring is a trap without an end.
func spring(x0, y0, k float64) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) { return -k * (x - x0), -k * (y - y0) }
}

// whirl turns about a centre by rate 1/s, less by a Gaussian of width w away from it.
func whirl(x0, y0, rate, w float64) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) {
		u, v := x-x0, y-y0
		turn := rate * math.Exp(-(u*u+v*v)/(2*w*w))
		return -turn * v, turn * u
	}
}

// film is how tracks are seen.
type film struct {
	objects, frames int
	side, dt        float64
	r               float64 // variance of a place over 2DΔt
}

// tracks are the places of every object at every frame, seen with noise; they begin anywhere in the field, and are turned back at its edge.
func (f film) tracks(l law, seed uint64) [][][2]float64 {
	const parts = 10 // of a frame, over which the law is followed
	rng := rand.New(rand.NewPCG(seed, 1))
	h := f.dt / parts
	spread, noise := math.Sqrt(2*l.d*h), math.Sqrt(f.r*2*l.d*f.dt)
	turn := func(x float64) float64 {
		if x < 0 {
			return -x
		}
		if x > f.side {
			return 2*f.side - x
		}
		return x
	}
	var all [][][2]float64
	for range f.objects {
		x, y := f.side*rng.Float64(), f.side*rng.Float64()
		var track [][2]float64
		for range f.frames {
			track = append(track, [2]float64{x + noise*rng.NormFloat64(), y + noise*rng.NormFloat64()})
			for range parts {
				dx, dy := l.drift(x, y)
				x, y = turn(x+dx*h+spread*rng.NormFloat64()), turn(y+dy*h+spread*rng.NormFloat64())
			}
		}
		all = append(all, track)
	}
	return all
}

// mapped is the map of tracks.
func (f film) mapped(tracks [][][2]float64, halfLife float64) *Map {
	m, err := New(Config{Width: f.side, Height: f.side, HalfLife: halfLife})
	if err != nil {
		panic(err)
	}
	for k := 1; k < f.frames; k++ {
		m.Pass(f.dt)
		for _, t := range tracks {
			s := Step{X: t[k-1][0], Y: t[k-1][1], DX: t[k][0] - t[k-1][0], DY: t[k][1] - t[k-1][1], DT: f.dt, Weight: 1}
			if k > 1 {
				s.Before = Before{t[k-1][0] - t[k-2][0], t[k-1][1] - t[k-2][1], 1}
			}
			m.Add(&s)
		}
	}
	return m
}

// visited are the squares of a sixteenth of the field that steps began in, ten at least.
func (f film) visited(tracks [][][2]float64) []Cell {
	const side, least = 16, 10
	all := make([]Cell, side*side)
	for _, t := range tracks {
		for _, p := range t[:len(t)-1] {
			i, j := int(p[0]/f.side*side), int(p[1]/f.side*side)
			if p[0] >= 0 && p[1] >= 0 && i < side && j < side {
				c := &all[j*side+i]
				c.Steps++
				c.At[0], c.At[1] = c.At[0]+(p[0]-c.At[0])/c.Steps, c.At[1]+(p[1]-c.At[1])/c.Steps
			}
		}
	}
	return slices.DeleteFunc(all, func(c Cell) bool { return c.Steps < least })
}

// missed is how far a drift is off over cells: the mean square, (px/s)², each cell weighed by its steps.
func missed(cells []Cell, l law, drift func(x, y float64) (dx, dy float64)) float64 {
	sum, steps := 0.0, 0.0
	for _, c := range cells {
		a, b := drift(c.At[0], c.At[1])
		x, y := l.drift(c.At[0], c.At[1])
		sum += c.Steps * ((a-x)*(a-x) + (b-y)*(b-y)) / 2
		steps += c.Steps
	}
	return sum / steps
}

// off is the mean square of errors in standard errors over cells, each alike.
func off(cells []Cell, l law, w *Law) float64 {
	sum := 0.0
	for _, c := range cells {
		x, y := l.drift(c.At[0], c.At[1])
		mean, sd := w.Drift(c.At[0], c.At[1])
		sum += (math.Pow((mean[0]-x)/sd[0], 2) + math.Pow((mean[1]-y)/sd[1], 2)) / 2
	}
	return sum / float64(len(cells))
}
