package sprites

import (
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Looks holds the residuals of frames after subtraction of a single sprite's template, in the sprite's frame of reference and within twice its radius. A
// molecule, for example, changes its shape in every frame, and the shape moves with it.
type Looks struct {
	of      *Set
	spectra map[int][][]complex64 // by frame and channel
}

// maxLooks bounds the number of values in all looks, 128 MiB.
const maxLooks = 1 << 24

// Looks returns the looks in the given frames, with the sprite at places (all frames × 2). It returns nil if they need too much memory.
func (m *Set) Looks(c *video.Clip, frames []int, places []float64) *Looks {
	if len(frames)*m.channels*m.plane.Size() > maxLooks {
		return nil
	}
	l, near := &Looks{m, make(map[int][][]complex64, len(frames))}, m.reach(0)
	for _, frame := range frames {
		f := m.Residual(c, []int{frame})
		at := [2]float64(places[2*frame:])
		m.addTo(f.left[0], 0, at, -1)
		m.shift.Set(-at[0], -at[1])
		for _, left := range f.left[0] {
			l.spectra[frame] = append(l.spectra[frame], m.within(near, left))
		}
	}
	return l
}

// within moves the picture of a spectrum by the current shift, clears all pixels except some, and returns the spectrum of the result.
func (m *Set) within(some []bool, spectrum []complex128) []complex64 {
	clear(m.sum)
	m.shift.Add(m.sum, spectrum, 1)
	m.plane.Inverse(m.picture, m.sum)
	for p, near := range some {
		if !near {
			m.picture[p] = 0
		}
	}
	m.plane.Forward(m.sum, numeric.Float32s(m.picture))
	out := make([]complex64, len(m.sum))
	for j, v := range m.sum {
		out[j] = complex64(v)
	}
	return out
}

// Draw renders pictures (frames × CHW) of the sprite at the given positions (frames × 2), each with its look in that frame.
func (l *Looks) Draw(pictures []float32, places []float64, frames []int) {
	m, area := l.of, l.of.plane.H*l.of.plane.W
	spectrum := make([]complex128, m.plane.Size())
	for i, frame := range frames {
		m.shift.Set(places[2*i], places[2*i+1])
		for ch, template := range m.Templates[0] {
			for j, v := range l.spectra[frame][ch] {
				m.sum[j] = template[j] + complex128(v)
			}
			copy(spectrum, m.Background[ch])
			m.shift.Add(spectrum, m.sum, 1)
			m.plane.Inverse(m.picture, spectrum)
			copy(pictures[(i*m.channels+ch)*area:], numeric.Float32s(m.picture))
		}
	}
}
