package sprites

import (
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Occluder is a sprite with alpha. It hides its background wholly or partly:
//
//	picture = background (1 - alpha moved to place) + light moved to place
//
// Light has one picture per channel, alpha has one picture for all channels. Alpha 1 hides the background, alpha 0 only adds light. Pictures wrap around.
type Occluder struct {
	plane           *numeric.Plane
	channels        int
	light           [][]complex128 // per channel
	alpha           []complex128
	lightAlpha      [][]complex128 // light · alpha, per channel
	alphaSquared    []complex128   // alpha²
	shift           *numeric.Shift
	sum, moved      []complex128
	picture, hidden []float64
	scratch         []float32
}

// NewOccluder fits light and alpha by least squares. In the sprite's own frame of reference each pixel is affine in the background:
//
//	frame(p + place) = light(p) + (1 - alpha(p)) background(p + place)
//
// backgrounds has one picture and places two entries per given frame.
func NewOccluder(m *Set, c *video.Clip, frames []int, places []float64, backgrounds []float32) *Occluder {
	v := &Occluder{plane: m.plane, channels: m.channels, shift: m.shift, sum: m.sum, moved: make([]complex128, m.plane.Size()), picture: m.picture,
		hidden: make([]float64, c.Height*c.Width), scratch: make([]float32, c.Height*c.Width)}
	size, area := c.Size(), c.Height*c.Width
	n := float64(len(frames))
	front, behind := make([]float64, size), make([]float64, size) // means
	with, alone := make([]float64, size), make([]float64, size)   // of products
	y, b := make([]float64, area), make([]float64, area)
	for k, f := range frames {
		v.shift.Set(-places[2*k], -places[2*k+1])
		for ch := range v.channels {
			at := ch * area
			v.moveBack(y, c.Frame(f)[at:at+area])
			v.moveBack(b, backgrounds[k*size+at:k*size+at+area])
			for p := range area {
				front[at+p] += y[p] / n
				behind[at+p] += b[p] / n
				with[at+p] += y[p] * b[p] / n
				alone[at+p] += b[p] * b[p] / n
			}
		}
	}
	if m.LowSNR > 0 { // the noise hides alpha
		for p, v := range behind {
			with[p] = front[p]*v + alone[p] - v*v
		}
	}
	v.fit(m.support(0), front, behind, with, alone)
	return v
}

// moveBack moves a picture into the sprite's frame of reference, by the current shift.
func (v *Occluder) moveBack(dst []float64, picture []float32) {
	v.plane.Forward(v.sum, picture)
	clear(v.moved)
	v.shift.Add(v.moved, v.sum, 1)
	v.plane.Inverse(dst, v.moved)
}

// fit computes light and alpha from the means of frames, of backgrounds and of their products. Both are 0 outside of the support.
func (v *Occluder) fit(support []bool, front, behind, with, alone []float64) {
	const flat = 1e-6 // variance of a background that is too uniform to determine alpha
	area := v.plane.H * v.plane.W
	alpha := make([]float32, area)
	for p := range area {
		if !support[p] {
			continue
		}
		covariance, variance := flat, flat
		for at := p; at < len(front); at += area {
			covariance += with[at] - front[at]*behind[at]
			variance += alone[at] - behind[at]*behind[at]
		}
		alpha[p] = float32(min(max(1-covariance/variance, 0), 1))
	}
	light, both, squared := make([]float32, area), make([]float32, area), make([]float32, area)
	for ch := range v.channels {
		for p := range area {
			if support[p] {
				light[p] = float32(front[ch*area+p] - float64(1-alpha[p])*behind[ch*area+p])
			}
			both[p], squared[p] = light[p]*alpha[p], alpha[p]*alpha[p]
		}
		v.light, v.lightAlpha = append(v.light, v.spectrum(light)), append(v.lightAlpha, v.spectrum(both))
	}
	v.alpha, v.alphaSquared = v.spectrum(alpha), v.spectrum(squared)
}

func (v *Occluder) spectrum(picture []float32) []complex128 {
	s := make([]complex128, v.plane.Size())
	v.plane.Forward(s, picture)
	return s
}

// Draw draws the sprite at position (x, y) over a picture (CHW).
func (v *Occluder) Draw(picture []float32, x, y float64) {
	area := v.plane.H * v.plane.W
	v.shift.Set(x, y)
	v.render(v.hidden, v.alpha)
	for ch := range v.channels {
		v.render(v.picture, v.light[ch])
		one := picture[ch*area : (ch+1)*area]
		for p := range one {
			one[p] = float32(float64(one[p])*(1-v.hidden[p]) + v.picture[p])
		}
	}
}

// render writes the shifted picture of a spectrum to dst.
func (v *Occluder) render(dst []float64, spectrum []complex128) {
	clear(v.moved)
	v.shift.Add(v.moved, spectrum, 1)
	v.plane.Inverse(dst, v.moved)
}

// Locate returns the position at which the sprite over the background is most similar to the frame. With d = frame - background it maximises
//
//	Σ light d - alpha d background + light alpha background - ½ alpha² background²
//
// in which every term is a correlation.
func (v *Occluder) Locate(frame, background []float32) [2]float64 {
	area := v.plane.H * v.plane.W
	clear(v.moved)
	term := func(shape []complex128, scale complex128, value func(p int) float32) {
		for p := range v.scratch {
			v.scratch[p] = value(p)
		}
		v.plane.Forward(v.sum, v.scratch)
		for j, s := range v.sum {
			v.moved[j] += scale * s * complex(real(shape[j]), -imag(shape[j]))
		}
	}
	for ch := range v.channels {
		x, b := frame[ch*area:(ch+1)*area], background[ch*area:(ch+1)*area]
		term(v.light[ch], 1, func(p int) float32 { return x[p] - b[p] })
		term(v.alpha, -1, func(p int) float32 { return (x[p] - b[p]) * b[p] })
		term(v.lightAlpha[ch], 1, func(p int) float32 { return b[p] })
		term(v.alphaSquared, -0.5, func(p int) float32 { return b[p] * b[p] })
	}
	v.plane.Inverse(v.picture, v.moved)
	return peak(v.picture, v.plane.H, v.plane.W)
}

// support returns the pixels in which the template of sprite k is not negligible.
func (m *Set) support(k int) []bool {
	const nothing = 1e-3 // fraction of the brightest pixel
	light := make([]float64, m.plane.H*m.plane.W)
	for _, s := range m.Templates[k] {
		m.plane.Inverse(m.picture, slices.Clone(s))
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
