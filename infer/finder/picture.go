package finder

import (
	"math"
	"sync"
)

// Picture is a grey picture, row by row. Pixel centres have integer coordinates.
type Picture struct {
	W, H int
	P    []float32
}

// NewPicture returns a picture of zeros.
func NewPicture(w, h int) Picture { return Picture{w, h, make([]float32, w*h)} }

func (a Picture) row(y int) []float32 { return a.P[y*a.W : (y+1)*a.W] }

// at returns the value at (x, y) by linear interpolation. Beyond the border the edge pixels repeat.
func (a Picture) at(x, y float64) float64 {
	x, y = min(max(x, 0), float64(a.W-1)), min(max(y, 0), float64(a.H-1))
	i, j := min(int(x), max(a.W-2, 0)), min(int(y), max(a.H-2, 0))
	u, v := x-float64(i), y-float64(j)
	i1, j1 := min(i+1, a.W-1), min(j+1, a.H-1)
	p, q, r, s := float64(a.P[j*a.W+i]), float64(a.P[j*a.W+i1]), float64(a.P[j1*a.W+i]), float64(a.P[j1*a.W+i1])
	return (1-v)*((1-u)*p+u*q) + v*((1-u)*r+u*s)
}

// minus returns a - b.
func (a Picture) minus(b Picture) Picture {
	out := NewPicture(a.W, a.H)
	for i, v := range a.P {
		out.P[i] = v - b.P[i]
	}
	return out
}

// run calls f for 0 to n-1 on two goroutines and waits.
func run(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range min(n, 2) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range next {
				f(i)
			}
		}()
	}
	wait.Wait()
}

// mirror reflects an index at the border, so that the edge pixel occurs twice.
func mirror(i, n int) int {
	for i < 0 || i >= n {
		if i < 0 {
			i = -1 - i
		} else {
			i = 2*n - 1 - i
		}
	}
	return i
}

// fine is the largest standard deviation of a filter, in pixels; wider filters work on a coarser grid.
const fine = 4

// blur smooths a picture with a Gaussian of standard deviation s.
func blur(a Picture, s float64) Picture {
	if s <= fine {
		return blurFine(a, s)
	}
	q := coarse(s)
	h := shrink(a, q)
	return grow(blurFine(h, s*float64(h.W)/float64(a.W)), a.W, a.H)
}

// coarse returns the step of a grid on which the scale s is at most `fine` pixels.
func coarse(s float64) int {
	q := 1
	for s/float64(q) > fine {
		q *= 2
	}
	return q
}

func taps(s float64) []float32 {
	r := max(1, int(math.Round(4*s)))
	k := make([]float32, r+1)
	sum := 0.
	for i := range k {
		v := math.Exp(-.5 * float64(i*i) / (s * s))
		k[i] = float32(v)
		sum += v
		if i > 0 {
			sum += v
		}
	}
	for i := range k {
		k[i] /= float32(sum)
	}
	return k
}

func blurFine(a Picture, s float64) Picture {
	k := taps(s)
	r := len(k) - 1
	out, tmp := NewPicture(a.W, a.H), NewPicture(a.W, a.H)
	line := make([]float32, a.W+2*r)
	for y := range a.H {
		in, to := a.row(y), tmp.row(y)
		copy(line[r:], in)
		for i := range r {
			line[r-1-i] = in[mirror(-1-i, a.W)]
			line[r+a.W+i] = in[mirror(a.W+i, a.W)]
		}
		for x := range to {
			to[x] = k[0] * line[x+r]
		}
		for i := 1; i <= r; i++ {
			w, l, m := k[i], line[r-i:][:len(to)], line[r+i:][:len(to)]
			for x := range to {
				to[x] += w * (l[x] + m[x])
			}
		}
	}
	for y := range a.H {
		to, in := out.row(y), tmp.row(y)
		for x := range to {
			to[x] = k[0] * in[x]
		}
		for i := 1; i <= r; i++ {
			w, l, m := k[i], tmp.row(mirror(y-i, a.H))[:len(to)], tmp.row(mirror(y+i, a.H))[:len(to)]
			for x := range to {
				to[x] += w * (l[x] + m[x])
			}
		}
	}
	return out
}

// shrink averages blocks of about q by q pixels.
func shrink(a Picture, q int) Picture {
	if q <= 1 {
		return a
	}
	w, h := max(1, a.W/q), max(1, a.H/q)
	w, h = max(w, min(4, a.W)), max(h, min(4, a.H))
	return shrinkTo(a, w, h)
}

func shrinkTo(a Picture, w, h int) Picture {
	if w == a.W && h == a.H {
		return a
	}
	tmp, out := NewPicture(w, a.H), NewPicture(w, h)
	fx, fy := float64(a.W)/float64(w), float64(a.H)/float64(h)
	for x := range w {
		lo, hi := float64(x)*fx, float64(x+1)*fx
		for i := int(lo); i < a.W && float64(i) < hi-1e-9; i++ {
			part := float32((min(hi, float64(i+1)) - max(lo, float64(i))) / fx)
			for y := range a.H {
				tmp.P[y*w+x] += part * a.P[y*a.W+i]
			}
		}
	}
	for y := range h {
		lo, hi := float64(y)*fy, float64(y+1)*fy
		to := out.row(y)
		for i := int(lo); i < a.H && float64(i) < hi-1e-9; i++ {
			part := float32((min(hi, float64(i+1)) - max(lo, float64(i))) / fy)
			for x, v := range tmp.row(i) {
				to[x] += part * v
			}
		}
	}
	return out
}

// grow interpolates a coarse picture linearly to w x h.
func grow(a Picture, w, h int) Picture {
	if w == a.W && h == a.H {
		return a
	}
	out := NewPicture(w, h)
	fx, fy := float64(a.W)/float64(w), float64(a.H)/float64(h)
	left, part := make([]int, w), make([]float32, w)
	for x := range w {
		u := min(max((float64(x)+.5)*fx-.5, 0), float64(a.W-1))
		left[x] = min(int(u), max(a.W-2, 0))
		part[x] = float32(u - float64(left[x]))
	}
	one := min(1, a.W-1)
	for y := range h {
		v := min(max((float64(y)+.5)*fy-.5, 0), float64(a.H-1))
		j := min(int(v), max(a.H-2, 0))
		t := float32(v - float64(j))
		p, q, to := a.row(j), a.row(min(j+1, a.H-1)), out.row(y)
		for x := range to {
			i := left[x]
			u := part[x]
			to[x] = (1-t)*((1-u)*p[i]+u*p[i+one]) + t*((1-u)*q[i]+u*q[i+one])
		}
	}
	return out
}

// patch interpolates (2r+1)² pixels around a position between pixels.
func patch(a Picture, x, y float64, r int, out []float32) []float32 {
	out = out[:0]
	for j := -r; j <= r; j++ {
		for i := -r; i <= r; i++ {
			out = append(out, float32(a.at(x+float64(i), y+float64(j))))
		}
	}
	return out
}

// widest replaces each pixel by the maximum of the (2r+1)² pixels around it.
func widest(a Picture, r int) Picture {
	tmp, out := NewPicture(a.W, a.H), NewPicture(a.W, a.H)
	best := func(n int, get func(i int) float32, put func(i int, v float32), queue []int) {
		head, tail := 0, 0
		for i := 0; i < n+r; i++ {
			if i < n {
				v := get(i)
				for tail > head && get(queue[tail-1]) <= v {
					tail--
				}
				queue[tail] = i
				tail++
			}
			if o := i - r; o >= 0 {
				for queue[head] < o-r {
					head++
				}
				put(o, get(queue[head]))
			}
		}
	}
	queue := make([]int, max(a.W, a.H)+1)
	for y := range a.H {
		in, to := a.row(y), tmp.row(y)
		best(a.W, func(i int) float32 { return in[i] }, func(i int, v float32) { to[i] = v }, queue)
	}
	for x := range a.W {
		best(a.H, func(i int) float32 { return tmp.P[i*a.W+x] }, func(i int, v float32) { out.P[i*a.W+x] = v }, queue)
	}
	return out
}

// background returns the median over a window of twelve scales, on a grid of at most 160 pixels per side.
func background(f Picture, s float64) Picture {
	q := max(1, int(math.Ceil(float64(max(f.W, f.H))/160)))
	h := shrinkTo(f, max(1, f.W/q), max(1, f.H/q))
	k := int(min(max(12*s/float64(q), 9), .9*float64(min(h.W, h.H))))
	return grow(slidingMedian(h, max(1, k/2)), f.W, f.H)
}

// slidingMedian returns the median of the (2r+1)² pixels around each pixel, by a moving histogram with 1024 levels (Huang 1979).
func slidingMedian(a Picture, r int) Picture {
	const levels = 1024
	lo, hi := a.P[0], a.P[0]
	for _, v := range a.P {
		lo, hi = min(lo, v), max(hi, v)
	}
	out := NewPicture(a.W, a.H)
	if !(hi > lo) {
		copy(out.P, a.P)
		return out
	}
	step := (hi - lo) / (levels - 1)
	level := make([]uint16, len(a.P))
	for i, v := range a.P {
		level[i] = uint16((v-lo)/step + .5)
	}
	half := (2*r + 1) * (2*r + 1) / 2
	rows := make([]int, 2*r+1)
	for y := range a.H {
		for j := range rows {
			rows[j] = mirror(y+j-r, a.H) * a.W
		}
		var hist [levels]int32
		below, at := 0, 0 // below is the number of pixels in levels under at
		column := func(x int, by int32) {
			x = mirror(x, a.W)
			for _, row := range rows {
				l := level[row+x]
				hist[l] += by
				if int(l) < at {
					below += int(by)
				}
			}
		}
		for x := -r; x < r; x++ {
			column(x, 1)
		}
		for x := range a.W {
			column(x+r, 1)
			for below > half {
				at--
				below -= int(hist[at])
			}
			for below+int(hist[at]) <= half {
				below += int(hist[at])
				at++
			}
			out.P[y*a.W+x] = lo + step*float32(at)
			column(x-r, -1)
		}
	}
	return out
}
