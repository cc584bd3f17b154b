package finder

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// shift returns the displacement d of the whole field from a to b, px: b(x) = a(x - d). ok reports whether the field moves and the shift improves the match.
//
// It starts from the peak of the phase correlation (Kuglin and Hines 1975) of a smoothed central square. It then refines the shift by Gauss-Newton steps with
// Cauchy weights.
func shift(a, b Picture) (dx, dy float64, ok bool) {
	q := max(1, min(a.W, a.H)/128)
	p, r := blur(shrink(a, q), 1), blur(shrink(b, q), 1)
	side := 1
	for 2*side <= min(p.W, p.H) {
		side *= 2
	}
	if side < 16 {
		return 0, 0, false
	}
	x, y := correlate(p, r, side)
	d := [2]float64{x, y}
	for range 6 {
		if !descend(p, r, &d) {
			return 0, 0, false
		}
	}
	if math.Hypot(d[0], d[1]) > float64(side)/3 || !(misfit(p, r, d) < .7*misfit(p, r, [2]float64{})) {
		return 0, 0, false
	}
	return d[0] * float64(a.W) / float64(p.W), d[1] * float64(a.H) / float64(p.H), true
}

// misfit returns the median of |b - a shifted by d| on every second pixel.
func misfit(a, b Picture, d [2]float64) float64 {
	var v []float64
	for y := 0; y < a.H; y += 2 {
		for x := 0; x < a.W; x += 2 {
			u, w := float64(x)-d[0], float64(y)-d[1]
			if u >= 0 && w >= 0 && u <= float64(a.W-1) && w <= float64(a.H-1) {
				v = append(v, math.Abs(float64(b.P[y*a.W+x])-a.at(u, w)))
			}
		}
	}
	if len(v) < a.W*a.H/12 {
		return math.Inf(1)
	}
	return median(v)
}

// descend makes one Gauss-Newton step.
func descend(a, b Picture, d *[2]float64) bool {
	scale := 2*misfit(a, b, *d) + 1e-6
	if math.IsInf(scale, 1) {
		return false
	}
	var xx, xy, yy, x0, y0 float64
	for y := 1; y < a.H-1; y += 2 {
		for x := 1; x < a.W-1; x += 2 {
			u, v := float64(x)-d[0], float64(y)-d[1]
			if u < 1 || v < 1 || u > float64(a.W-2) || v > float64(a.H-2) {
				continue
			}
			gx, gy := (a.at(u+1, v)-a.at(u-1, v))/2, (a.at(u, v+1)-a.at(u, v-1))/2
			r := float64(b.P[y*a.W+x]) - a.at(u, v)
			w := 1 / (1 + r*r/(scale*scale))
			xx, xy, yy = xx+w*gx*gx, xy+w*gx*gy, yy+w*gy*gy
			x0, y0 = x0-w*gx*r, y0-w*gy*r
		}
	}
	det := xx*yy - xy*xy
	if !(det > 1e-9*(xx+yy)*(xx+yy)) {
		return false
	}
	d[0] += min(max((yy*x0-xy*y0)/det, -1), 1)
	d[1] += min(max((xx*y0-xy*x0)/det, -1), 1)
	return true
}

// correlate returns the peak of the phase correlation of the central square, whose side is a power of two.
func correlate(a, b Picture, side int) (x, y float64) {
	cut := func(p Picture) []complex128 {
		x0, y0 := (p.W-side)/2, (p.H-side)/2
		out := make([]complex128, side*side)
		mean := 0.
		for y := range side {
			for x := range side {
				mean += float64(p.P[(y0+y)*p.W+x0+x])
			}
		}
		mean /= float64(side * side)
		hann := func(i int) float64 { return .5 - .5*math.Cos(2*math.Pi*(float64(i)+.5)/float64(side)) }
		for y := range side {
			for x := range side {
				out[y*side+x] = complex((float64(p.P[(y0+y)*p.W+x0+x])-mean)*hann(x)*hann(y), 0)
			}
		}
		fourier2(out, side, false)
		return out
	}
	f, g := cut(a), cut(b)
	var top float64
	for i := range f {
		f[i] = g[i] * cmplx.Conj(f[i])
		top = max(top, cmplx.Abs(f[i]))
	}
	for i := range f {
		f[i] /= complex(cmplx.Abs(f[i])+1e-6*top+1e-12, 0)
	}
	fourier2(f, side, true)
	best := 0
	for i := range f {
		if real(f[i]) > real(f[best]) {
			best = i
		}
	}
	wrap := func(i int) float64 {
		if i > side/2 {
			i -= side
		}
		return float64(i)
	}
	return wrap(best % side), wrap(best / side)
}

// fourier2 applies the two-dimensional Fourier transform to a square, in place and unnormalised.
func fourier2(v []complex128, side int, inverse bool) {
	fft := fourier.NewCmplxFFT(side)
	turn := fft.Coefficients
	if inverse {
		turn = fft.Sequence
	}
	column, out := make([]complex128, side), make([]complex128, side)
	for y := range side {
		copy(v[y*side:(y+1)*side], turn(out, v[y*side:(y+1)*side]))
	}
	for x := range side {
		for y := range side {
			column[y] = v[y*side+x]
		}
		turn(out, column)
		for y := range side {
			v[y*side+x] = out[y]
		}
	}
}

// moved returns a shifted by (dx, dy). Beyond the border the edge pixels repeat.
func moved(a Picture, dx, dy float64) Picture {
	out := NewPicture(a.W, a.H)
	for y := range a.H {
		for x := range a.W {
			out.P[y*a.W+x] = float32(a.at(float64(x)-dx, float64(y)-dy))
		}
	}
	return out
}

// registered shifts the first frame of each pair onto the second if the whole field moves by more than .3 px. share is the fraction of pairs that move.
func registered(pairs [][2]Picture) (out [][2]Picture, by [][2]float64, share float64) {
	out, by = slices.Clone(pairs), make([][2]float64, len(pairs))
	moves := make([]bool, len(pairs))
	run(len(pairs), func(k int) {
		x, y, ok := shift(pairs[k][0], pairs[k][1])
		if ok && math.Hypot(x, y) > .3 {
			moves[k], by[k] = true, [2]float64{x, y}
			out[k][0] = moved(pairs[k][0], x, y)
		}
	})
	for _, m := range moves {
		if m {
			share += 1 / float64(len(pairs))
		}
	}
	return out, by, share
}
