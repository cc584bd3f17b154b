package finder

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// significant reports whether the blobs are more than noise. At least two frames and a seventh of all frames must have a strong blob, or the frames must have
// far more blobs than noise. In pure noise, one sample in a hundred has a strong blob.
func (l *learning) significant(found [][]blob) bool {
	n := float64(len(found))
	strict := marginSD * tail(unlikely/(n*2*float64(len(l.scales))*float64(l.w*l.h)/.64))
	sure, number := 0., 0.
	for _, b := range found {
		if slices.ContainsFunc(b, func(b blob) bool { return b.z > strict }) {
			sure++
		}
		number += float64(len(b))
	}
	return sure >= max(min(2, n), n/7) || number/n > max(3, 5*falseFinds*2*float64(len(l.window)))
}

// texture reports whether the blobs are the texture of the background. A texture moves with the whole field, and at its scale the picture is a Gaussian random
// field.
func (l *learning) texture(found [][]blob) bool {
	if l.Depth > .9 || l.noise.even[l.first+len(l.window)/2] { // a valley separates the objects from weaker blobs, or they are a lattice
		return false
	}
	peaked, leaning := make([]float64, len(l.frames)), make([]float64, len(l.frames))
	run(len(peaked), func(k int) {
		v := look(l.frames[k], l.window[len(l.window)/2], l.with)
		leaning[k], peaked[k] = shape(v.P)
	})
	if median(peaked) > peaky || math.Abs(median(leaning)) > lopsided {
		return false
	}
	if len(l.raw) == 0 {
		return true
	}
	if median(peaked) < 3.6 { // a Gaussian field, moving or not
		textured := l.noise.kappa[l.first+len(l.window)/2] > 1.1
		if l.Strength > 2*l.z || textured && l.Strength < 1.25*l.z { // far above the noise, or hardly above a textured background
			return true
		}
	}
	stay, all := 0., 0.
	for k, p := range l.raw {
		a, _ := l.detect(p[0], l.z, l.least)
		b, _ := l.detect(p[1], l.z/2, l.least/2) // an object may be weaker in the next frame
		for _, q := range a {
			all++
			if slices.ContainsFunc(b, func(c blob) bool {
				return math.Hypot(c.x-q.x-l.by[k][0], c.y-q.y-l.by[k][1]) < .75
			}) {
				stay++
			}
		}
	}
	return stay > .5*all
}

// shape returns the skewness and the kurtosis of a picture's values: 0 and 3 for a Gaussian field.
func shape(v []float32) (skewness, kurtosis float64) {
	var m, q, c, f float64
	for _, x := range v {
		m += float64(x)
	}
	n := float64(len(v))
	m /= n
	for _, x := range v {
		d := float64(x) - m
		q, c, f = q+d*d, c+d*d*d, f+d*d*d*d
	}
	q = max(q/n, 1e-30)
	return c / n / math.Pow(q, 1.5), f / n / (q * q)
}

// count returns the median number of objects per frame, and the share of frames with objects. If chance alone hardly explains the empty frames, the median
// covers only the frames with objects. Otherwise it covers all frames, and the share is 1.
func (l *learning) count(found [][]blob, least float64) (number, lasting float64) {
	var v, some []float64
	for _, b := range found {
		c := 0.
		for i := range b {
			if b[i].r > least {
				c++
			}
		}
		if v = append(v, c); c > 0 {
			some = append(some, c)
		}
	}
	n, empty := float64(len(v)), float64(len(v)-len(some))
	m := median(some)
	chance := distuv.Binomial{N: n, P: math.Exp(-m)}
	if m >= 2 && chance.Survival(empty-1) < unlikely {
		return m, 1 - empty/n
	}
	return median(v), 1
}

// sensitive tries the matched filter if noise, not texture, limits the detection. It keeps the filter if the filter finds as many objects as before at the same
// rate of false blobs.
func (l *learning) sensitive(before [][]blob) [][]blob {
	for i := range l.window {
		if l.noise.kappa[l.first+i] >= 1.15 {
			return before
		}
	}
	old := l.Finder
	l.with, l.window, l.first, l.least = matched, []float64{l.Scale / math.Pow(2, .25)}, 0, 0
	l.noise = newNoise(l.all, l.pairs, l.window, matched)
	found := make([][]blob, len(l.frames))
	run(len(found), func(k int) { found[k], _ = l.detect(l.frames[k], l.z, 0) })
	c, lasting := l.count(found, 0)
	if c < .98*old.Count || l.noise.kappa[0] >= 1.3 {
		l.with, l.window, l.first, l.least, l.noise = old.with, old.window, old.first, old.least, old.noise
		return before
	}
	l.Count, l.Lasting = c, lasting
	return found
}

// areas returns median areas around a blob, in squares of the scale: above 3/4 of its height and above 1/2 of its height. It also sets l.height to the median
// height.
func (l *learning) areas(found [][]blob) (a75, a50 float64) {
	type sight struct{ a, b, h float64 }
	seen := make([][]sight, len(found))
	run(len(found), func(k int) {
		g := l.ground(l.frames[k], .4*l.Scale)
		n := 0
		for i := range found[k] {
			b := &found[k][i]
			if b.r <= l.least || n == 25 {
				continue
			}
			n++
			top := b.p * float64(g.P[int(b.y)*g.W+int(b.x)])
			s := sight{h: top}
			if top > 0 {
				s.a, s.b = l.above(g, b, .75*top), l.above(g, b, .5*top)
			}
			seen[k] = append(seen[k], s)
		}
	})
	var a, b, h []float64
	for _, k := range seen {
		for _, s := range k {
			a, b, h = append(a, s.a), append(b, s.b), append(h, s.h)
		}
	}
	l.height = median(h)
	return median(a), median(b)
}

// above returns the connected area above t around a blob, within nine scales, in squares of the scale.
func (f *Finder) above(g Picture, b *blob, t float64) float64 {
	n := len(f.plateau(g, b, t, 9))
	return float64(n) / (f.Scale * f.Scale)
}

// plateau returns the connected pixels above t around a blob, up to a distance in scales.
func (f *Finder) plateau(g Picture, b *blob, t, scales float64) []int32 {
	r := int(scales*f.Scale) + 2
	x, y := int(b.x), int(b.y)
	x0, y0, x1, y1 := max(0, x-r), max(0, y-r), min(g.W-1, x+r), min(g.H-1, y+r)
	in := func(i int) bool { return b.p*float64(g.P[i]) > t }
	if !in(y*g.W + x) {
		return nil
	}
	seen := map[int32]bool{int32(y*g.W + x): true}
	list := []int32{int32(y*g.W + x)}
	for at := 0; at < len(list); at++ {
		i := int(list[at])
		u, v := i%g.W, i/g.W
		for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			a, c := u+d[0], v+d[1]
			if a < x0 || a > x1 || c < y0 || c > y1 {
				continue
			}
			if j := c*g.W + a; in(j) && !seen[int32(j)] {
				seen[int32(j)] = true
				list = append(list, int32(j))
			}
		}
	}
	return list
}
