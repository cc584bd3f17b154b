package finder

import (
	"cmp"
	"math"
	"slices"
)

// body is a connected piece of foreground.
type body struct {
	x, y          float64 // centroid
	area          float64 // px²
	long, short   float64 // sd along and across the main axis, px
	angle         float64 // from x to the main axis, radians, -π/2 to π/2
	edge          bool    // it touches the picture's border
	vxx, vyy, vxy float64
}

// region is the memory for labelling pieces of foreground.
type region struct {
	w, h  int
	label []int32
	stack []int32
}

// foreground marks the pixels above t, and fills holes.
func foreground(g Picture, p float64, t float64) []bool {
	w, h := g.W, g.H
	in := make([]bool, w*h)
	for i, v := range g.P {
		in[i] = p*float64(v) > t
	}
	outside := make([]bool, w*h)
	var stack []int32
	push := func(i int) {
		if !in[i] && !outside[i] {
			outside[i] = true
			stack = append(stack, int32(i))
		}
	}
	for x := range w {
		push(x)
		push((h-1)*w + x)
	}
	for y := range h {
		push(y * w)
		push(y*w + w - 1)
	}
	for len(stack) > 0 {
		i := int(stack[len(stack)-1])
		stack = stack[:len(stack)-1]
		x := i % w
		if x > 0 {
			push(i - 1)
		}
		if x < w-1 {
			push(i + 1)
		}
		if i >= w {
			push(i - w)
		}
		if i < w*(h-1) {
			push(i + w)
		}
	}
	for i := range in {
		in[i] = !outside[i]
	}
	return in
}

// pieces calls visit with the pixels of each 4-connected piece, in the order of the pieces' first pixels.
func pieces(in []bool, w, h int, visit func(pixels []int32)) {
	seen := make([]bool, len(in))
	var stack []int32
	for i := range in {
		if !in[i] || seen[i] {
			continue
		}
		stack = append(stack[:0], int32(i))
		seen[i] = true
		for at := 0; at < len(stack); at++ {
			j := int(stack[at])
			x := j % w
			step := func(k int) {
				if in[k] && !seen[k] {
					seen[k] = true
					stack = append(stack, int32(k))
				}
			}
			if x > 0 {
				step(j - 1)
			}
			if x < w-1 {
				step(j + 1)
			}
			if j >= w {
				step(j - w)
			}
			if j < w*(h-1) {
				step(j + w)
			}
		}
		visit(stack)
	}
}

// measure computes the body of a set of pixels.
func measure(pixels []int32, w, h int) (b body) {
	n := float64(len(pixels))
	for _, i := range pixels {
		x, y := int(i)%w, int(i)/w
		b.x += float64(x)
		b.y += float64(y)
		b.edge = b.edge || x == 0 || y == 0 || x == w-1 || y == h-1
	}
	b.x, b.y, b.area = b.x/n, b.y/n, n
	for _, i := range pixels {
		u, v := float64(int(i)%w)-b.x, float64(int(i)/w)-b.y
		b.vxx, b.vyy, b.vxy = b.vxx+u*u, b.vyy+v*v, b.vxy+u*v
	}
	b.vxx, b.vyy, b.vxy = b.vxx/n+1./12, b.vyy/n+1./12, b.vxy/n
	mean, half := (b.vxx+b.vyy)/2, math.Hypot((b.vxx-b.vyy)/2, b.vxy)
	b.long, b.short = math.Sqrt(mean+half), math.Sqrt(max(mean-half, 0))
	b.angle = .5 * math.Atan2(2*b.vxy, b.vxx-b.vyy)
	return b
}

// segment finds the bodies in a frame whose background was removed. It splits pieces that are well above the usual area (0: unknown) at their necks.
func segment(g Picture, p, t, least, usual float64) (all []body) {
	in := foreground(g, p, t)
	pieces(in, g.W, g.H, func(pixels []int32) {
		if float64(len(pixels)) < least {
			return
		}
		if usual > 0 && float64(len(pixels)) > double*usual {
			if parts := split(pixels, g.W, .35*usual); parts != nil {
				for _, part := range parts {
					all = append(all, measure(part, g.W, g.H))
				}
				return
			}
		}
		all = append(all, measure(pixels, g.W, g.H))
	})
	return all
}

// split cuts a piece at the necks of its distance transform. Of the relative heights .3, .2 and .12 it uses the smallest for which every part has more than the
// area `least`. It returns nil if the piece stays whole.
func split(pixels []int32, w int, least float64) (parts [][]int32) {
	x0, y0, x1, y1 := math.MaxInt, math.MaxInt, 0, 0
	for _, i := range pixels {
		x, y := int(i)%w, int(i)/w
		x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
	}
	e := NewPicture(x1-x0+3, y1-y0+3)
	at := make([]int, len(pixels)) // index in e, per pixel
	for k, i := range pixels {
		at[k] = (int(i)/w-y0+1)*e.W + int(i)%w - x0 + 1
		e.P[at[k]] = 1
	}
	distance(e)
	top := float32(0)
	for _, v := range e.P {
		top = max(top, v)
	}
	e = blur(e, max(.7, .12*float64(top)))
	top = 0
	for _, v := range e.P {
		top = max(top, v)
	}
	for _, share := range []float64{.3, .2, .12} {
		if p := basins(pixels, at, e, share*float64(top)); len(p) > 1 && !slices.ContainsFunc(p, func(q []int32) bool { return float64(len(q)) <= least }) {
			parts = p
		}
	}
	return parts
}

// distance replaces each pixel above 0 by its distance to the nearest pixel at 0 (Felzenszwalb and Huttenlocher 2012).
func distance(e Picture) {
	const far = 1e12
	d := make([]float64, len(e.P))
	for i, v := range e.P {
		if v > 0 {
			d[i] = far
		}
	}
	n := max(e.W, e.H)
	f, z, v := make([]float64, n), make([]float64, n+1), make([]int, n)
	line := func(n int, at func(i int) *float64) {
		for i := range n {
			f[i] = *at(i)
		}
		k := 0
		v[0], z[0], z[1] = 0, math.Inf(-1), math.Inf(1)
		for q := 1; q < n; q++ {
			var s float64
			for {
				r := v[k]
				s = ((f[q] + float64(q*q)) - (f[r] + float64(r*r))) / float64(2*q-2*r)
				if s > z[k] || k == 0 {
					break
				}
				k--
			}
			if s <= z[k] {
				v[k] = q
				continue
			}
			k++
			v[k], z[k], z[k+1] = q, s, math.Inf(1)
		}
		k = 0
		for q := range n {
			for z[k+1] < float64(q) {
				k++
			}
			*at(q) = float64((q-v[k])*(q-v[k])) + f[v[k]]
		}
	}
	for x := range e.W {
		line(e.H, func(i int) *float64 { return &d[i*e.W+x] })
	}
	for y := range e.H {
		line(e.W, func(i int) *float64 { return &d[y*e.W+i] })
	}
	for i := range e.P {
		e.P[i] = float32(math.Sqrt(d[i]))
	}
}

// basins floods a piece from its hills, the highest first. When two hills meet, the lower one becomes a part of its own if it rises by at least h above the
// saddle.
func basins(pixels []int32, at []int, e Picture, h float64) [][]int32 {
	order := make([]int, len(pixels))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(e.P[at[b]], e.P[at[a]]), cmp.Compare(a, b)) })
	owner := make([]int32, len(e.P)) // number of the hill + 1
	var parent []int32
	var peak []float64
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, k := range order {
		i, v := at[k], float64(e.P[at[k]])
		own := int32(-1)
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				o := owner[i+dy*e.W+dx]
				if o == 0 {
					continue
				}
				r := root(o - 1)
				if own < 0 {
					own = r
					continue
				}
				if r == own {
					continue
				}
				if peak[r] > peak[own] {
					r, own = own, r
				}
				if peak[r]-v < h { // the lower hill is too low to be a part
					parent[r] = own
				}
			}
		}
		if own < 0 {
			own = int32(len(parent))
			parent, peak = append(parent, own), append(peak, v)
		}
		owner[i] = own + 1
	}
	number := map[int32]int{}
	var parts [][]int32
	for k, i := range at {
		r := root(owner[i] - 1)
		n, ok := number[r]
		if !ok {
			n = len(parts)
			number[r] = n
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], pixels[k])
	}
	return parts
}
