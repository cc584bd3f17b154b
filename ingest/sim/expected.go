package sim

import "math"

// expecter is a renderer that can compute the distribution of its values.
type expecter interface {
	// expect implements Scene.Expect for the shown latents.
	expect(dst, z, shape []float64, age float64) (mean []float64, inside bool)
	// information implements Scene.Information: dst is as long as mean.
	information(dst, mean []float64)
}

// shaped is a renderer of an object that changes shape.
type shaped interface {
	shape() (now, sd []float64)
}

// Expect returns the expected values of the frame that Next returned last, as if its latents were z and its shape were shape. It returns only the values that z
// or shape can change, in an order that depends on neither, in units of the picture or in photoelectrons. Other properties of the frame, such as a molecule's
// brightness, stay the same. Expect overwrites dst if that is long enough, and reports false if z lies beyond the picture.
func (s *Scene) Expect(dst, z, shape []float64) (mean []float64, inside bool) {
	if shows := s.kind.law.Shows; shows != nil {
		s.shown = resize(s.shown, len(z))
		shows(s.shown, z)
		z = s.shown
	}
	if e, knows := s.draw.(expecter); knows {
		return e.expect(dst, z, shape, s.path.age)
	}
	return s.still.expect(dst, s.draw, z, s.path.age)
}

// Information returns the Fisher information of each value about its mean, which is the inverse variance for a normal value.
func (s *Scene) Information(dst, mean []float64) []float64 {
	dst = resize(dst, len(mean))
	if e, knows := s.draw.(expecter); knows {
		e.information(dst, mean)
	} else {
		rounded(dst, mean, s.Format().Channels)
	}
	return dst
}

// Shape returns the shape in the frame that Next returned last. It consists of numbers that are a priori independent and normal, with mean 0 and standard
// deviations sd. Most scenes have no shape.
func (s *Scene) Shape() (now, sd []float64) {
	if m, changes := s.draw.(shaped); changes {
		return m.shape()
	}
	return nil, nil
}

// Strides returns the standard deviations of the coordinates' steps between frames.
func (s *Scene) Strides() []float64 {
	strides := make([]float64, s.Dim())
	for i, sigma := range s.kind.law.Sigma {
		strides[i] = sigma * math.Sqrt(s.DT())
	}
	return strides
}

// expect returns the values that a renderer without noise draws.
func (p *Picture) expect(dst []float64, draw renderer, z []float64, age float64) (mean []float64, inside bool) {
	p.reset(draw.format())
	inside = draw.render(p, z, age)
	dst = resize(dst, len(p.F32))
	for i, v := range p.F32 {
		dst[i] = float64(v)
	}
	return dst, inside
}

// rounded computes the information of Unit values stored in 8 bits. Rounding counts as noise with a variance of 1/12 of a squared level. The channels of a
// pixel are equal, so they count once.
func rounded(dst, mean []float64, channels int) {
	const levels = 255
	for i, v := range mean {
		dst[i] = 12 * levels * levels
		for c := i - i%channels; c < i; c++ {
			if mean[c] == v {
				dst[i] = 0
			}
		}
	}
}

func (n *noisy) expect(dst, z, _ []float64, age float64) ([]float64, bool) {
	return n.still.expect(dst, n.clean, z, age)
}

func (n *noisy) information(dst, _ []float64) {
	for i := range dst {
		dst[i] = n.noise.information
	}
}

func (m *molecule) expect(dst, z, _ []float64, age float64) ([]float64, bool) {
	x, y := cameraSide/2+pxPerUM*z[0], cameraSide/2+pxPerUM*z[1]
	peak := coilPeak * math.Exp(-age/bleachTime)
	dst = m.backdrop.expect(dst, m.corner, 2*coilReach, func(i, j int) float64 {
		u, v := float64(m.corner[0]+i)+0.5-x, float64(m.corner[1]+j)+0.5-y
		return peak * math.Exp(-(u*u+v*v)/(2*coilSD*coilSD))
	})
	return dst, m.backdrop.holds(x, y)
}

func (m *molecule) information(dst, mean []float64) { m.backdrop.information(dst, mean) }

// expect returns the values of the molecule's patch. It includes the light below dimmest, which is not drawn, 3e-5 of the total.
func (d *dna) expect(dst, z, shape []float64, _ float64) ([]float64, bool) {
	x, y := cameraSide/2+pxPerUM*z[0], cameraSide/2+pxPerUM*z[1]
	d.expose(x-float64(d.corner[0]), y-float64(d.corner[1]), modesOf(shape))
	dst = d.backdrop.expect(dst, d.corner, patchSide, func(i, j int) float64 { return d.glow[j*patchSide+i] })
	return dst, d.backdrop.holds(x, y)
}

func (d *dna) information(dst, mean []float64) { d.backdrop.information(dst, mean) }

func (d *dna) shape() (now, sd []float64) {
	for i, m := range d.chain.mode {
		now, sd = append(now, m[0], m[1]), append(sd, d.chain.sd[i], d.chain.sd[i])
	}
	return now, sd
}

// modesOf views shape as the components of the modes.
func modesOf(shape []float64) *[modes][2]float64 {
	var mode [modes][2]float64
	for i := range mode {
		mode[i] = [2]float64(shape[2*i:])
	}
	return &mode
}

// expect returns the values of a square of the picture. light(i, j) is the number of photoelectrons on top of the background. Pixels beyond the picture are 0,
// which no pixel inside can be.
func (b *backdrop) expect(dst []float64, corner [2]int, width int, light func(i, j int) float64) []float64 {
	dst = resize(dst, width*width)
	for k := range dst {
		i, j := k%width, k/width
		dst[k] = 0
		if x, y := corner[0]+i, corner[1]+j; x >= 0 && x < cameraSide && y >= 0 && y < cameraSide {
			dst[k] = b.rate[b.level[y*cameraSide+x]] + light(i, j)
		}
	}
	return dst
}

// The information of a count is cached at leastKept · 2^(k/keptAn) photoelectrons, k = 0, 1, ...
const (
	leastKept = 4.0
	keptAn    = 4 // steps per octave
)

// information interpolates the camera's information between cached values. Interpolation is accurate because the information times λ lies between a half and 1
// and changes slowly.
func (b *backdrop) information(dst, mean []float64) {
	for i, electrons := range mean {
		if dst[i] = 0; electrons == 0 {
			continue
		}
		at := keptAn * math.Log2(max(electrons/leastKept, 1))
		k := int(at)
		for len(b.kept) < k+2 {
			there := leastKept * math.Exp2(float64(len(b.kept))/keptAn)
			b.kept = append(b.kept, there*b.camera.information(there))
		}
		part := at - float64(k)
		dst[i] = ((1-part)*b.kept[k] + part*b.kept[k+1]) / electrons
	}
}
