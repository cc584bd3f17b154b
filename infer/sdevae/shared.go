package sdevae

import (
	"context"
	"math"
	"slices"
)

// The search for movers of one shape.
const (
	mostAlike   = 0.97 // correlation of two templates above which a frame does not say which is which
	copyRounds  = 8    // of places and the shape
	retryRounds = 2    // of places that begin somewhere
	mostOwn     = 0.05 // share of what moves that shapes of their own may explain beyond one for all: they fit themselves to where the light ends
)

// kin is of each mover the first that looks like it, itself where there is none before.
func (m *movers) kin() []int {
	kin := make([]int, len(m.shapes))
	for k := range kin {
		kin[k] = k
		for other := range k {
			if kin[other] == other && m.likeness(k, other) > mostAlike {
				kin[k] = other
				break
			}
		}
	}
	return kin
}

// twin is the shape of the movers of which most look alike; nil where no two do.
func (m *movers) twin() [][]complex128 {
	family := make([]int, len(m.shapes))
	for _, of := range m.kin() {
		family[of]++
	}
	if most := slices.Max(family); most > 1 {
		return m.shapes[slices.Index(family, most)]
	}
	return nil
}

// learnCopies finds n movers of one shape, from a first guess of it. It gives the energy left.
func (m *movers) learnCopies(ctx context.Context, c *Clip, frames []int, n int, shape [][]complex128) (left float64) {
	f := m.open(c, frames)
	m.copies = true
	for k := range n {
		m.shapes, f.place = append(m.shapes, shape), append(f.place, make([][2]float64, len(f.left)))
		m.find(f, k)
		m.add(f, k, -1)
	}
	for range until(ctx, copyRounds) {
		m.sweep(f)
		m.reshapeAll(f)
		m.settleStill(f)
	}
	return f.energy(m)
}

// sweep finds all movers of one shape anew, in every frame from where they are there, and in the frame before and the one after: where they
// lie over each other their light is not told apart without.
func (m *movers) sweep(f *film) {
	for i := range f.left {
		f.left[i] = m.leave(f, i, f.placesIn(i))
		m.retry(f, i, i)
		if f.since[i] > 0 {
			m.retry(f, i, i-1)
		}
	}
	for i := len(f.left) - 2; i >= 0; i-- {
		if f.since[i+1] > 0 {
			m.retry(f, i, i+1)
		}
	}
}

// placesIn are those of all movers in frame i.
func (f *film) placesIn(i int) [][2]float64 {
	place := make([][2]float64, len(f.place))
	for k := range place {
		place[k] = f.place[k][i]
	}
	return place
}

// retry has frame i's movers begin where they are in another, and leaves them where that leads if less is left.
func (m *movers) retry(f *film, i, from int) {
	place := f.placesIn(from)
	left := m.leave(f, i, place)
	for range retryRounds {
		for k := range place {
			m.addTo(left, k, place[k], 1)
			place[k] = m.findIn(left, k)
			m.addTo(left, k, place[k], -1)
		}
		left = m.leave(f, i, place)
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
func (m *movers) leave(f *film, i int, place [][2]float64) [][]complex128 {
	area, frame := m.plane.h*m.plane.w, f.clip.Frame(f.frames[i])
	left, residual := make([][]complex128, m.channels), make([]float32, area)
	for ch := range left {
		left[ch] = make([]complex128, m.plane.size())
		copy(m.sum, m.still[ch])
		for k, at := range place {
			m.move.by(at[0], at[1])
			m.move.accumulate(m.sum, m.shapes[k][ch], 1)
		}
		m.plane.back(m.picture, m.sum)
		for p, x := range frame[ch*area : (ch+1)*area] {
			residual[p] = x - float32(m.picture[p])
			if x >= 1 {
				residual[p] = max(residual[p], 0)
			}
		}
		m.plane.forward(left[ch], residual)
	}
	return left
}

// reshapeAll adds to the one shape of all movers what is left around them, in the mean.
func (m *movers) reshapeAll(f *film) {
	scale := complex(1/float64(len(m.shapes)*len(f.left)), 0)
	shape := make([][]complex128, m.channels)
	for ch := range shape {
		shape[ch] = slices.Clone(m.shapes[0][ch])
	}
	for k := range m.shapes {
		for i, left := range f.left {
			m.move.by(-f.place[k][i][0], -f.place[k][i][1])
			for ch := range shape {
				m.move.accumulate(shape[ch], left[ch], scale)
			}
		}
	}
	m.trim(shape, moverEdge)
	for k := range m.shapes {
		m.add(f, k, 1)
		m.shapes[k] = shape
		m.add(f, k, -1)
	}
}

// likeness is the largest correlation of two movers' shapes, wherever they are.
func (m *movers) likeness(a, b int) float64 {
	one, other := m.shapes[a], m.shapes[b]
	clear(m.sum)
	for ch := range one {
		m.correlate(one[ch], other[ch])
	}
	m.plane.back(m.picture, m.sum)
	return slices.Max(m.picture) / math.Sqrt(m.energy(one)*m.energy(other))
}

// average gives movers that look alike one shape, their mean.
func (m *movers) average(kin []int) {
	for first := range m.shapes {
		var family []int
		for k, of := range kin {
			if of == first {
				family = append(family, k)
			}
		}
		for ch := range m.channels {
			mean := make([]complex128, m.plane.size())
			for _, k := range family {
				for j, v := range m.shapes[k][ch] {
					mean[j] += v / complex(float64(len(family)), 0)
				}
			}
			for _, k := range family {
				m.shapes[k][ch] = mean
			}
		}
	}
}
