package sprites

import (
	"context"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"math"
	"slices"
)

// The search for movers of one shape.
const (
	maxSimilarity = 0.97 // correlation of two templates above which a frame does not say which is which
	sharedRounds  = 8    // of places and the shape
	retryRounds   = 2    // of places that begin somewhere
	maxOwnShare   = 0.05 // share of what moves that shapes of their own may explain beyond one for all: they fit themselves to where the light ends
)

// kin is of each mover the first that looks like it, itself where there is none before.
func (m *Set) SharedTemplates() []int {
	kin := make([]int, len(m.Templates))
	for k := range kin {
		kin[k] = k
		for other := range k {
			if kin[other] == other && m.similarity(k, other) > maxSimilarity {
				kin[k] = other
				break
			}
		}
	}
	return kin
}

// twin is the shape of the movers of which most look alike; nil where no two do.
func (m *Set) commonTemplate() [][]complex128 {
	family := make([]int, len(m.Templates))
	for _, of := range m.SharedTemplates() {
		family[of]++
	}
	if most := slices.Max(family); most > 1 {
		return m.Templates[slices.Index(family, most)]
	}
	return nil
}

// learnCopies finds n movers of one shape, from a first guess of it. It gives the energy left.
func (m *Set) learnShared(ctx context.Context, c *video.Clip, frames []int, n int, shape [][]complex128) (left float64) {
	f := m.Residual(c, frames)
	m.shared = true
	for k := range n {
		m.Templates, f.place = append(m.Templates, shape), append(f.place, make([][2]float64, len(f.left)))
		m.locate(f, k)
		m.add(f, k, -1)
	}
	for range numeric.Rounds(ctx, sharedRounds) {
		m.relocateAll(f)
		m.updateShared(f)
		m.updateBackground(f)
	}
	return f.Energy(m)
}

// sweep finds all movers of one shape anew, in every frame from where they are there, and in the frame before and the one after: where they
// lie over each other their light is not told apart without.
func (m *Set) relocateAll(f *Residual) {
	for i := range f.left {
		f.left[i] = m.residualOf(f, i, f.placesIn(i))
		m.retryFrom(f, i, i)
		if f.intervals[i] > 0 {
			m.retryFrom(f, i, i-1)
		}
	}
	for i := len(f.left) - 2; i >= 0; i-- {
		if f.intervals[i+1] > 0 {
			m.retryFrom(f, i, i+1)
		}
	}
}

// placesIn are those of all movers in frame i.
func (f *Residual) placesIn(i int) [][2]float64 {
	place := make([][2]float64, len(f.place))
	for k := range place {
		place[k] = f.place[k][i]
	}
	return place
}

// retry has frame i's movers begin where they are in another, and leaves them where that leads if less is left.
func (m *Set) retryFrom(f *Residual, i, from int) {
	place := f.placesIn(from)
	left := m.residualOf(f, i, place)
	for range retryRounds {
		for k := range place {
			m.addTo(left, k, place[k], 1)
			place[k] = m.locateIn(left, k)
			m.addTo(left, k, place[k], -1)
		}
		left = m.residualOf(f, i, place)
	}
	if m.energy(left) < m.energy(f.left[i]) {
		f.left[i] = left
		for k, at := range place {
			f.place[k][i] = at
		}
	}
}

// leave is what movers at these places leave of frame i. A pixel that is as bright as can be leaves nothing where they would have
// it brighter: light that adds up ends there.
func (m *Set) residualOf(f *Residual, i int, place [][2]float64) [][]complex128 {
	area, frame := m.plane.H*m.plane.W, f.clip.Frame(f.frames[i])
	left, residual := make([][]complex128, m.channels), make([]float32, area)
	for ch := range left {
		left[ch] = make([]complex128, m.plane.Size())
		copy(m.sum, m.Background[ch])
		for k, at := range place {
			m.shift.Set(at[0], at[1])
			m.shift.Add(m.sum, m.Templates[k][ch], 1)
		}
		m.plane.Inverse(m.picture, m.sum)
		for p, x := range frame[ch*area : (ch+1)*area] {
			residual[p] = x - float32(m.picture[p])
			if x >= 1 {
				residual[p] = max(residual[p], 0)
			}
		}
		m.plane.Forward(left[ch], residual)
	}
	return left
}

// reshapeAll adds to the one shape of all movers what is left around them, in the mean.
func (m *Set) updateShared(f *Residual) {
	scale := complex(1/float64(len(m.Templates)*len(f.left)), 0)
	shape := make([][]complex128, m.channels)
	for ch := range shape {
		shape[ch] = slices.Clone(m.Templates[0][ch])
	}
	for k := range m.Templates {
		for i, left := range f.left {
			m.shift.Set(-f.place[k][i][0], -f.place[k][i][1])
			for ch := range shape {
				m.shift.Add(shape[ch], left[ch], scale)
			}
		}
	}
	m.trim(shape, templateEdge)
	for k := range m.Templates {
		m.add(f, k, 1)
		m.Templates[k] = shape
		m.add(f, k, -1)
	}
}

// likeness is the largest correlation of two movers' shapes, wherever they are.
func (m *Set) similarity(a, b int) float64 {
	one, other := m.Templates[a], m.Templates[b]
	clear(m.sum)
	for ch := range one {
		m.correlate(one[ch], other[ch])
	}
	m.plane.Inverse(m.picture, m.sum)
	return slices.Max(m.picture) / math.Sqrt(m.energy(one)*m.energy(other))
}

// average gives movers that look alike one shape, their mean.
func (m *Set) ShareTemplates(kin []int) {
	for first := range m.Templates {
		var family []int
		for k, of := range kin {
			if of == first {
				family = append(family, k)
			}
		}
		for ch := range m.channels {
			mean := make([]complex128, m.plane.Size())
			for _, k := range family {
				for j, v := range m.Templates[k][ch] {
					mean[j] += v / complex(float64(len(family)), 0)
				}
			}
			for _, k := range family {
				m.Templates[k][ch] = mean
			}
		}
	}
}
