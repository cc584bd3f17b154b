package maps

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// mostCells is how many cells lie along the longer side of the field: 32² cells bound the memory, and a trap within one cell is seen all the
// same, because the drift is bilinear there.
const mostCells = 32

// mostGain is the weight at which all sums are scaled back: no square of it overflows.
const mostGain = 1e60

// ErrField refuses a field that has no area, or a half-life below zero.
var ErrField = errors.New("maps: the field")

// Config is what a Map is made for.
type Config struct {
	Width, Height float64 // of the field, px
	HalfLife      float64 // s after which a step counts half; 0: none is forgotten
}

// Step is one step of an object, of which the common motion is taken off.
type Step struct {
	X, Y     float64 // where it began, px
	DX, DY   float64 // px
	DT       float64 // s
	Variance float64 // of a place, px² an axis, the mean of both ends; 0 where not known
	Weight   float64 // 0 to 1, the probability that both ends are the object's
	Before   Before  // the step that led to where this one began
}

// Before is the same object's step before. The zero value is none.
type Before struct {
	DX, DY float64 // px
	Weight float64 // 0 to 1
}

// Map is the law over the field. It is made by New, and used from one goroutine.
type Map struct {
	config  Config
	nx, ny  int     // cells
	side    float64 // of a cell, px
	gain    float64 // weight of a step now, in the units of the sums
	cells   []cell  // row by row
	outside float64 // steps whose middle was not in the field
}

// New is a map that has seen nothing.
func New(c Config) (*Map, error) {
	if !(c.Width > 0 && c.Height > 0 && c.Width+c.Height < math.MaxInt32) || !(c.HalfLife >= 0) {
		return nil, fmt.Errorf("%w is %g x %g px with a half-life of %g s: expected sides above 0 and a half-life of 0 or more", ErrField, c.Width, c.Height, c.HalfLife)
	}
	m := &Map{config: c, side: max(c.Width, c.Height) / mostCells, gain: 1}
	m.nx, m.ny = max(1, int(math.Ceil(c.Width/m.side-1e-9))), max(1, int(math.Ceil(c.Height/m.side-1e-9)))
	m.cells = make([]cell, m.nx*m.ny)
	return m, nil
}

// Size is that of the field, px.
func (m *Map) Size() (width, height float64) { return m.config.Width, m.config.Height }

// Pass has seconds go by: what was seen so far counts less. It is called once a frame.
func (m *Map) Pass(seconds float64) {
	if m.config.HalfLife == 0 || !(seconds > 0) {
		return
	}
	m.gain *= math.Exp2(min(seconds/m.config.HalfLife, 180)) // beyond, nothing is left of the past in any case
	if m.gain > mostGain {
		for i := range m.cells {
			m.cells[i].scale(1 / m.gain)
		}
		m.outside /= m.gain
		m.gain = 1
	}
}

// Add takes in a step. What is no number, or has no time, is left out.
func (m *Map) Add(s *Step) {
	x, y := s.X+s.DX/2, s.Y+s.DY/2
	w := m.gain * s.Weight
	if !(s.DT > 0 && w > 0) || math.IsNaN(x+y) {
		return
	}
	u, v := x/m.side, y/m.side
	if !(u >= 0 && v >= 0 && u < float64(m.nx) && v < float64(m.ny)) {
		m.outside += w
		return
	}
	i, j := int(u), int(v)
	m.cells[j*m.nx+i].add(s, u-float64(i), v-float64(j), w)
}

// Outside is how many steps, by weight, were left out because their middle was not in the field.
func (m *Map) Outside() float64 { return m.outside / m.gain }

// Clone is a copy, which another goroutine may read while steps come to m.
func (m *Map) Clone() *Map {
	c := *m
	c.cells = slices.Clone(m.cells)
	return &c
}

// Reset forgets all.
func (m *Map) Reset() {
	clear(m.cells)
	m.gain, m.outside = 1, 0
}
