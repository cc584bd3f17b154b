package finder

import (
	"math"
)

// lamp corrects each frame to the illumination of the sample's median.
type lamp struct {
	median []float32 // median of the sample, on a grid
	q      int       // step of the grid, px
	gain   bool      // a gain and an offset explain the differences between frames; if false, only an offset is used
	swing  float64   // sd of the lamp's level, as a fraction of the median's range
}

func (l *lamp) grid(f Picture, out []float32) []float32 {
	out = out[:0]
	for y := 0; y < f.H; y += l.q {
		for x := 0; x < f.W; x += l.q {
			out = append(out, f.P[y*f.W+x])
		}
	}
	return out
}

// newLamp computes the median of the frames, and whether the lamp explains their differences.
func newLamp(frames []Picture) *lamp {
	l := &lamp{q: max(1, min(frames[0].W, frames[0].H)/96)}
	all := make([][]float32, len(frames))
	for k, f := range frames {
		all[k] = l.grid(f, nil)
	}
	l.median = make([]float32, len(all[0]))
	column := make([]float64, len(frames))
	for i := range l.median {
		for k := range all {
			column[k] = float64(all[k][i])
		}
		l.median[i] = float32(median(column))
	}
	var level, shares, values []float64
	for _, v := range l.median {
		values = append(values, float64(v))
	}
	middle, span := median(values), quantile(values, .99)-quantile(values, .01)
	if !(quantile(values, 1) > quantile(values, 0)) {
		return l
	}
	steady := true
	for _, d := range all {
		a, b, share := l.regress(d)
		shares = append(shares, share)
		level = append(level, a*middle+b)
		steady = steady && math.Abs(a-1) < .5
	}
	explained := median(shares) > .9
	l.gain = explained && steady
	if explained {
		l.swing = sd(level) / max(1e-9, span)
	}
	return l
}

func sd(v []float64) float64 {
	var n, m, q float64
	for _, x := range v {
		n++
		d := x - m
		m += d / n
		q += d * (x - m)
	}
	return math.Sqrt(q / max(n, 1))
}

// regress fits d = a median + b by least squares with Cauchy weights, four times. It also returns the share of d's variance that the fit explains.
func (l *lamp) regress(d []float32) (a, b, share float64) {
	w := make([]float64, len(d))
	for i := range w {
		w[i] = 1
	}
	off := make([]float64, len(d))
	for range 4 {
		var sw, sm, sd float64
		for i, w := range w {
			sw, sm, sd = sw+w, sm+w*float64(l.median[i]), sd+w*float64(d[i])
		}
		mm, dm := sm/sw, sd/sw
		var vm, vd, c float64
		for i, w := range w {
			u, v := float64(l.median[i])-mm, float64(d[i])-dm
			vm, vd, c = vm+w*u*u, vd+w*v*v, c+w*u*v
		}
		a = c / max(vm, 1e-9*sw)
		b = dm - a*mm
		share = a * a * vm / max(vd, 1e-9*sw)
		for i := range d {
			off[i] = math.Abs(float64(d[i]) - a*float64(l.median[i]) - b)
		}
		scale := 2 * (1.4826*median(append([]float64(nil), off...)) + 1e-6)
		for i, r := range off {
			w[i] = 1 / (1 + r*r/(scale*scale))
		}
	}
	return a, b, share
}

// correct returns the frame under the illumination of the sample's median. dark reports that almost nothing of the median is visible.
func (l *lamp) correct(f Picture) (out Picture, dark bool) {
	d := l.grid(f, nil)
	a, b := 1., 0.
	if l.gain {
		a, b, _ = l.regress(d)
	}
	if a < .2 {
		dark, a = true, 1
	}
	if !l.gain || dark {
		off := make([]float64, len(d))
		for i, v := range d {
			off[i] = float64(v - l.median[i])
		}
		b = median(off)
	}
	out = NewPicture(f.W, f.H)
	g, o := float32(1/a), float32(b)
	for i, v := range f.P {
		out.P[i] = (v - o) * g
	}
	return out, dark
}
