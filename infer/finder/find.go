package finder

import (
	"math"
	"slices"
)

// Place is an object in one frame, with its position, px.
type Place struct {
	X, Y        float64
	VarX, VarY  float64 // px²
	Strength    float64 // above the background, grey values
	Z           float64 // strength over the noise
	Area        float64 // px²; 0 for spots
	Long, Short float64 // sd along and across the main axis, px; 0 for spots
	Angle       float64 // from x to the main axis, radians
	scale       float64
}

// Size returns the size of the pictures.
func (f *Finder) Size() (w, h int) { return f.w, f.h }

// Extent returns the area, the sds along and across the main axis and the angle, each with the standard deviation that follows from the finite number of
// pixels.
func (p *Place) Extent() (z, sd [4]float64) {
	edge := math.Sqrt(2 * math.Sqrt(math.Pi*p.Area)) // each pixel along the outline is inside or outside by chance
	n := max(p.Area, 1)
	z = [4]float64{p.Area, p.Long, p.Short, p.Angle}
	sd = [4]float64{edge, p.Long * edge / n, p.Short * edge / n, edge / n * p.Long * p.Short / max(p.Long*p.Long-p.Short*p.Short, 1e-6)}
	sd[3] = min(sd[3], math.Pi/math.Sqrt(12)) // bounds the error for a round body, whose angle is arbitrary
	return z, sd
}

// ground smooths a frame by s and removes its background.
func (f *Finder) ground(in Picture, s float64) Picture {
	return blur(in, s).minus(background(in, f.Scale))
}

// detect finds the blobs of the class in a frame, the strongest first, without satellites. joints has the strengths of each pair of joined blobs.
func (f *Finder) detect(in Picture, z, least float64) (kept []blob, joints [][2]float64) {
	levels := make([]level, len(f.window))
	for i, s := range f.window {
		levels[i] = look(in, s, f.with)
	}
	signs := []float64{f.sign}
	if f.both {
		signs = []float64{1, -1}
	}
	all := extrema(levels, blur(in, 2), sieve{f.noise, f.first, z, signs, false})
	all = slices.DeleteFunc(all, func(b blob) bool { return b.r <= least })
	strongest(all)
	all = alone(all[:min(len(all), 3000)], f.w, f.h, 1.5)
	if f.coarse {
		return f.sharpen(levels, all), nil
	}
	to, satellite := saddles(f.ground(in, max(.5, .4*f.Scale)), all, f.Scale)
	for i, b := range all {
		switch {
		case satellite[i]:
		case to[i] >= 0:
			joints = append(joints, [2]float64{b.r, all[to[i]].r})
		default:
			kept = append(kept, b)
		}
	}
	return f.sharpen(levels, kept), joints
}

// found returns the blobs of a frame that exceed the noise at their position. Learn uses all blobs instead, because the search for the valley between objects
// and noise needs both.
func (f *Finder) found(in Picture, least float64) []blob {
	all, _ := f.detect(in, f.z*f.low, least)
	return slices.DeleteFunc(all, func(b blob) bool { return b.z < f.z*f.low*f.noise.unevenness(b.x, b.y) })
}

func (f *Finder) sharpen(levels []level, b []blob) []blob {
	for i := range b {
		b[i].x, b[i].y = levels[b[i].at].sharpened(&b[i])
		b[i].x, b[i].y = min(max(b[i].x, 0), float64(f.w-1)), min(max(b[i].y, 0), float64(f.h-1))
	}
	return b
}

// bodies segments a frame.
func (f *Finder) bodies(in Picture, usual, least float64) []body {
	return segment(f.ground(in, max(.5, .4*f.Scale)), f.sign, .5*f.height, least, usual)
}

// Find locates the objects in a frame. nearX and nearY are the last position of a single object, or NaN if unknown.
func (f *Finder) Find(frame Picture, nearX, nearY float64) []Place {
	in, _ := f.lamp.correct(frame)
	switch f.Kind {
	case One, OneBody:
		return f.one(in, nearX, nearY)
	case Few, Many:
		return f.spots(in)
	case Bodies:
		return places(slices.DeleteFunc(f.bodies(in, f.Area, 2*f.Scale*f.Scale), func(b body) bool { return b.area <= small*f.Area }))
	}
	return nil
}

func places(all []body) (out []Place) {
	for i := range all {
		b := &all[i]
		out = append(out, Place{X: b.x, Y: b.y, VarX: b.vxx / b.area, VarY: b.vyy / b.area, Area: b.area, Long: b.long, Short: b.short, Angle: b.angle, Z: math.Inf(1)})
	}
	return out
}

func (f *Finder) spots(in Picture) (out []Place) {
	least := f.least * f.low
	if f.Depth > .9 {
		least = f.least * .85
	}
	found := f.found(in, least)
	var g Picture
	if f.Area > 0 {
		g = f.ground(in, .4*f.Scale)
	}
	var buf []float32
	for i := range found {
		b := &found[i]
		x, y := b.x, b.y
		v := math.Pow(b.s/max(b.z, 1), 2)
		vx, vy := v, v
		if f.template != nil {
			var u, w, ncc float64
			var fit [2]float64
			u, w, fit, ncc, buf = f.template.align(in, x, y, buf)
			if ncc > 0 && math.Hypot(u-x, w-y) < .8*f.Scale+.3 {
				x, y, vx, vy = u, w, fit[0], fit[1]
			}
		} else if f.Area > 0 {
			if m, ok := f.centred(g, b); ok {
				x, y = m.x, m.y
			}
		}
		if min(x, y, float64(f.w-1)-x, float64(f.h-1)-y) < 1.4*b.s && f.Scale > 3 && f.low == 1 {
			x, y = rim(in, b)
		}
		out = append(out, Place{X: x, Y: y, VarX: vx, VarY: vy, Strength: b.r, Z: b.z, scale: b.s})
	}
	return out
}

// centred returns the piece around a blob above half its height. ok is false if the piece has an unusual size, because it may be two objects.
func (f *Finder) centred(g Picture, b *blob) (m body, ok bool) {
	top := b.p * float64(g.P[int(b.y)*g.W+int(b.x)])
	if top <= 0 {
		return m, false
	}
	piece := f.plateau(g, b, .5*top, 9)
	if a := float64(len(piece)); a < .4*f.Area || a > 1.6*f.Area {
		return m, false
	}
	return measure(piece, g.W, g.H), true
}

// rim returns the centroid of the visible part of an object at the border. The part is everything above half the object's height.
func rim(in Picture, b *blob) (x, y float64) {
	r := int(2.6*b.s) + 1
	x0, y0, x1, y1 := max(0, int(b.x)-r), max(0, int(b.y)-r), min(in.W-1, int(b.x)+r), min(in.H-1, int(b.y)+r)
	w := NewPicture(x1-x0+1, y1-y0+1)
	for j := range w.H {
		for i := range w.W {
			w.P[j*w.W+i] = float32(b.p) * in.P[(y0+j)*in.W+x0+i]
		}
	}
	w = blur(w, .3*b.s)
	var v []float64
	for _, u := range w.P {
		v = append(v, float64(u))
	}
	top, low := float64(w.P[(int(b.y)-y0)*w.W+int(b.x)-x0]), quantile(v, .1)
	if top <= low {
		return b.x, b.y
	}
	f := Finder{Scale: b.s}
	piece := f.plateau(w, &blob{p: 1, x: b.x - float64(x0), y: b.y - float64(y0)}, (top+low)/2, 6)
	if len(piece) == 0 {
		return b.x, b.y
	}
	m := measure(piece, w.W, w.H)
	return m.x + float64(x0), m.y + float64(y0)
}

// one locates a single object, either as the strongest blob, refined by the template, or as a body by its centroid.
func (f *Finder) one(in Picture, nearX, nearY float64) []Place {
	least := f.least * f.low
	if f.Depth > .9 {
		least = f.least * .85
	}
	found, _ := f.detect(in, f.z*f.low, least)
	found = slices.DeleteFunc(found, func(b blob) bool { // a weak blob counts only near the last position
		return b.z < f.z && !(math.Hypot(b.x-nearX, b.y-nearY) < 3*f.Scale+2)
	})
	x, y, z, r := nearX, nearY, 0., 0.
	if len(found) > 0 {
		b := &found[0]
		for i := range found {
			if found[i].r > b.r {
				b = &found[i]
			}
		}
		x, y, z, r = b.x, b.y, b.z, b.r
	}
	if math.IsNaN(x) {
		return nil
	}
	if f.Kind == OneBody {
		var best *body
		score := 0.
		all := f.bodies(in, 0, max(3, f.Scale*f.Scale))
		for i := range all {
			b := &all[i]
			d := math.Hypot(b.x-x, b.y-y) / (4 * f.Scale)
			if v := b.area / (1 + d*d); v > score {
				best, score = b, v
			}
		}
		if best != nil {
			p := places([]body{*best})
			p[0].Z, p[0].Strength = z, r
			return p
		}
		if len(found) == 0 {
			return nil
		}
		return []Place{{X: x, Y: y, VarX: f.Scale * f.Scale, VarY: f.Scale * f.Scale, Z: z, Strength: r}}
	}
	u, v, variance, alike, _ := f.template.align(in, x, y, nil)
	if len(found) == 0 && alike < .5 { // no blob, and no match at the last position
		return nil
	}
	if math.Hypot(u-x, v-y) > 1.5*f.Scale+1 {
		u, v = x, y
	}
	return []Place{{X: u, Y: v, VarX: variance[0], VarY: variance[1], Z: z, Strength: r, scale: f.Scale}}
}
