// Steps
//
// A step Δ of an object from x to x' is evaluated at its middle m = (x+x')/2, with functions ψ bilinear in each of at most 32 x 32 cells,
//
//	b = Σ (Δ ψ(m) - D Δt ∂ψ(m)) / 2D,  G = Σ Δt (ψψ' + ½(DΔt - R) ∇ψ·∇ψ') / 2D
//
// where R is the localisation variance. Without drift, E b = 0 for any noise: x'-x and x+x' have independent errors, and E Δψ(m) = DΔt E∂ψ(m) for normal
// steps (Stein). Evaluated at the start of the step, the noise would look like a spring, a drift of R/DΔt times ∂ ln p. The correction of Frishman and
// Ronceray (Physical Review X 10, 021009, 2020) removes the mean of this bias too, but needs R. The second part of G corrects for the noise of m and for the
// distance between the start and the middle. All sums follow, for any D and R, from 9 moments of m and 4 of Δ along each axis in a cell.
//
// Forgetting
//
// A step of age t has weight 2^(-t/half-life). In practice new steps get larger weights, and all sums are scaled back from time to time. G and b are scaled
// to the effective number of steps, (Σw)²/Σw². The scale is at most Σw/Σw² of all cells, because little is known about a cell that objects left long ago.
//
// Memory is 240 kB. Lengths are in px and times in s.

package maps

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// mostCells is the number of cells along the longer side of the field. 32² cells bound the memory, and a trap within one cell is still visible because
// the drift is bilinear there.
const mostCells = 32

// mostGain is the weight at which all sums are scaled back, so no square overflows.
const mostGain = 1e60

// ErrField reports an invalid size of the field, or a negative half-life.
var ErrField = errors.New("maps: the field")

// Config sets up a Map.
type Config struct {
	Width, Height float64 // of the field, px
	HalfLife      float64 // time in which the weight of a step halves, s; 0 keeps all steps
}

// Step is one step of an object, without the common motion.
type Step struct {
	X, Y     float64 // start, px
	DX, DY   float64 // px
	DT       float64 // s
	Variance float64 // localisation variance, px² per axis, the mean of both ends; 0 if unknown
	Weight   float64 // 0 to 1, the probability that both ends belong to the object
	Before   Before  // the previous step
}

// Before is the previous step of the same object. The zero value means that there is none.
type Before struct {
	DX, DY float64 // px
	Weight float64 // 0 to 1
}

// Map holds the sums over the field. Create it with New, and use it from one goroutine.
type Map struct {
	config  Config
	nx, ny  int     // cells
	side    float64 // side of a cell, px
	gain    float64 // weight of a new step, in the units of the sums
	cells   []cell  // row by row
	outside float64 // weight of the steps whose middle is outside the field
}

// New returns an empty map.
func New(c Config) (*Map, error) {
	if !(c.Width > 0 && c.Height > 0 && c.Width+c.Height < math.MaxInt32) || !(c.HalfLife >= 0) {
		return nil, fmt.Errorf("%w is %g x %g px with a half-life of %g s: expected sides above 0 and a half-life of 0 or more", ErrField, c.Width, c.Height, c.HalfLife)
	}
	m := &Map{config: c, side: max(c.Width, c.Height) / mostCells, gain: 1}
	m.nx, m.ny = max(1, int(math.Ceil(c.Width/m.side-1e-9))), max(1, int(math.Ceil(c.Height/m.side-1e-9)))
	m.cells = make([]cell, m.nx*m.ny)
	return m, nil
}

// Size returns the size of the field, px.
func (m *Map) Size() (width, height float64) { return m.config.Width, m.config.Height }

// Pass ages the map by the given number of seconds. Call it once per frame.
func (m *Map) Pass(seconds float64) {
	if m.config.HalfLife == 0 || !(seconds > 0) {
		return
	}
	m.gain *= math.Exp2(min(seconds/m.config.HalfLife, 180)) // nothing remains beyond 180 half-lives
	if m.gain > mostGain {
		for i := range m.cells {
			m.cells[i].scale(1 / m.gain)
		}
		m.outside /= m.gain
		m.gain = 1
	}
}

// Add adds a step. It drops steps with NaN or without time.
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

// Outside returns the summed weight of the dropped steps, whose middle was outside the field.
func (m *Map) Outside() float64 { return m.outside / m.gain }

// Clone returns a copy. Another goroutine may read the copy while m takes steps.
func (m *Map) Clone() *Map {
	c := *m
	c.cells = slices.Clone(m.cells)
	return &c
}

// Reset clears the map.
func (m *Map) Reset() {
	clear(m.cells)
	m.gain, m.outside = 1, 0
}
