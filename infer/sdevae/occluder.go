package sdevae

import "slices"

// cover is a thing that hides what it moves over, wholly or in part:
//
//	picture = backdrop (1 - veil moved to place) + light moved to place
//
// Light has channels, the veil has one for all: 1 hides everything, of a thing that only adds its light it is 0. Pictures wrap around.
type cover struct {
	plane           *plane
	channels        int
	light           [][]complex128 // a channel
	veil            []complex128
	both            [][]complex128 // light · veil, a channel
	squared         []complex128   // veil²
	move            *shift
	sum, moved      []complex128
	picture, hidden []float64
	scratch         []float32
}

// newCover learns by least squares how a mover covers. In its own frame of reference each pixel is affine in what is behind:
//
//	frame(p + place) = light(p) + (1 - veil(p)) backdrop(p + place)
//
// backdrops are of the given frames, places 2 a frame.
func newCover(m *movers, c *Clip, frames []int, places []float64, backdrops []float32) *cover {
	v := &cover{plane: m.plane, channels: m.channels, move: m.move, sum: m.sum, moved: make([]complex128, m.plane.size()), picture: m.picture,
		hidden: make([]float64, c.Height*c.Width), scratch: make([]float32, c.Height*c.Width)}
	size, area := c.Size(), c.Height*c.Width
	n := float64(len(frames))
	front, behind := make([]float64, size), make([]float64, size) // means
	with, alone := make([]float64, size), make([]float64, size)   // of products
	y, b := make([]float64, area), make([]float64, area)
	for k, f := range frames {
		v.move.by(-places[2*k], -places[2*k+1])
		for ch := range v.channels {
			at := ch * area
			v.carry(y, c.Frame(f)[at:at+area])
			v.carry(b, backdrops[k*size+at:k*size+at+area])
			for p := range area {
				front[at+p] += y[p] / n
				behind[at+p] += b[p] / n
				with[at+p] += y[p] * b[p] / n
				alone[at+p] += b[p] * b[p] / n
			}
		}
	}
	if m.faint > 0 { // what it hides is lost in the noise
		for p, v := range behind {
			with[p] = front[p]*v + alone[p] - v*v
		}
	}
	v.settle(m.support(0), front, behind, with, alone)
	return v
}

// carry moves a picture.
func (v *cover) carry(dst []float64, picture []float32) {
	v.plane.forward(v.sum, picture)
	clear(v.moved)
	v.move.accumulate(v.moved, v.sum, 1)
	v.plane.back(dst, v.moved)
}

// settle sets light and veil, none outside of the support, from means of frames and backdrops and of their products.
func (v *cover) settle(support []bool, front, behind, with, alone []float64) {
	const flat = 1e-6 // variance of a backdrop behind which nobody sees a veil
	area := v.plane.h * v.plane.w
	veil := make([]float32, area)
	for p := range area {
		if !support[p] {
			continue
		}
		covariance, variance := flat, flat
		for at := p; at < len(front); at += area {
			covariance += with[at] - front[at]*behind[at]
			variance += alone[at] - behind[at]*behind[at]
		}
		veil[p] = float32(min(max(1-covariance/variance, 0), 1))
	}
	light, both, squared := make([]float32, area), make([]float32, area), make([]float32, area)
	for ch := range v.channels {
		for p := range area {
			if support[p] {
				light[p] = float32(front[ch*area+p] - float64(1-veil[p])*behind[ch*area+p])
			}
			both[p], squared[p] = light[p]*veil[p], veil[p]*veil[p]
		}
		v.light, v.both = append(v.light, v.spectrum(light)), append(v.both, v.spectrum(both))
	}
	v.veil, v.squared = v.spectrum(veil), v.spectrum(squared)
}

func (v *cover) spectrum(picture []float32) []complex128 {
	s := make([]complex128, v.plane.size())
	v.plane.forward(s, picture)
	return s
}

// put draws the thing at a place over a picture (CHW).
func (v *cover) put(picture []float32, x, y float64) {
	area := v.plane.h * v.plane.w
	v.move.by(x, y)
	v.show(v.hidden, v.veil)
	for ch := range v.channels {
		v.show(v.picture, v.light[ch])
		one := picture[ch*area : (ch+1)*area]
		for p := range one {
			one[p] = float32(float64(one[p])*(1-v.hidden[p]) + v.picture[p])
		}
	}
}

// show is a spectrum's picture where it was moved to.
func (v *cover) show(dst []float64, spectrum []complex128) {
	clear(v.moved)
	v.move.accumulate(v.moved, spectrum, 1)
	v.plane.back(dst, v.moved)
}

// find is the place at which the thing, over the backdrop, is nearest to the frame: with d their difference, where
//
//	Σ light d - veil d backdrop + light veil backdrop - ½ veil² backdrop²
//
// is highest, correlations all.
func (v *cover) find(frame, backdrop []float32) [2]float64 {
	area := v.plane.h * v.plane.w
	clear(v.moved)
	term := func(shape []complex128, scale complex128, value func(p int) float32) {
		for p := range v.scratch {
			v.scratch[p] = value(p)
		}
		v.plane.forward(v.sum, v.scratch)
		for j, s := range v.sum {
			v.moved[j] += scale * s * complex(real(shape[j]), -imag(shape[j]))
		}
	}
	for ch := range v.channels {
		x, b := frame[ch*area:(ch+1)*area], backdrop[ch*area:(ch+1)*area]
		term(v.light[ch], 1, func(p int) float32 { return x[p] - b[p] })
		term(v.veil, -1, func(p int) float32 { return (x[p] - b[p]) * b[p] })
		term(v.both[ch], 1, func(p int) float32 { return b[p] })
		term(v.squared, -0.5, func(p int) float32 { return b[p] * b[p] })
	}
	v.plane.back(v.picture, v.moved)
	return top(v.picture, v.plane.h, v.plane.w)
}

// support is where mover k is anything.
func (m *movers) support(k int) []bool {
	const nothing = 1e-3 // of the brightest
	light := make([]float64, m.plane.h*m.plane.w)
	for _, s := range m.shapes[k] {
		m.plane.back(m.picture, slices.Clone(s))
		for p, v := range m.picture {
			light[p] += max(v, -v)
		}
	}
	least := nothing * slices.Max(light)
	some := make([]bool, len(light))
	for p, v := range light {
		some[p] = v > least
	}
	return some
}
