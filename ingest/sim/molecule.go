package sim

import (
	"math"
	"math/rand/v2"
)

// Parameters of one fluorescent DNA molecule in solution, held by a weak trap and recorded by an EMCCD at 56 frames/s.
const (
	pxPerUM    = 10 // 0.1 um per pixel in the sample
	moleculeDT = 1.0 / 56

	diffusion  = 2.0   // um²/s: a step has sd 2.7 px
	stiffness  = 1.0   // 1/s: the position has sd 14 px
	coilSD     = 6.0   // px: the coil, including the point spread function
	coilReach  = 25    // px, within which the coil is drawn; beyond, it adds less than 0.01 photoelectrons
	coilPeak   = 40.0  // photoelectrons per frame in the brightest pixel of a fresh molecule, 10 times the background's sd
	bleachTime = 600.0 // s in which the fluorescence falls to 1/e
	bleachedTo = 1.0 / 3
)

// trappedMolecule is the law dz = -κ z dt + √(2D) dW in um, from the position of capture.
func trappedMolecule() SDE {
	law := ornsteinUhlenbeck(2, stiffness, math.Sqrt(2*diffusion), moleculeDT)
	law.X0 = nil
	return law
}

// moleculeLife returns the number of frames until the fluorescence has bleached to bleachedTo. Then a fresh molecule starts.
func moleculeLife() int { return int(math.Ceil(bleachTime * math.Log(1/bleachedTo) / moleculeDT)) }

// molecule draws a Gaussian coil at 10 px/um, z₁ to the right of and z₂ below the picture's centre.
type molecule struct {
	backdrop *backdrop
	corner   [2]int // of the square lit last
}

func newMolecule(o Options, _ extent, pixels *rand.PCG) (renderer, error) {
	empty, err := newBackdrop(o, pixels)
	return &molecule{backdrop: empty}, err
}

func (m *molecule) format() Format { return m.backdrop.format() }

func (m *molecule) render(dst *Picture, z []float64, age float64) bool {
	m.backdrop.draw(dst.U16)
	x, y := cameraSide/2+pxPerUM*z[0], cameraSide/2+pxPerUM*z[1]
	m.drawCoil(dst.U16, x, y, coilPeak*math.Exp(-age/bleachTime))
	return m.backdrop.holds(x, y)
}

// drawCoil redraws the pixels within coilReach of (x, y) with the molecule's light; (x, y) may lie outside the picture.
func (m *molecule) drawCoil(dst []uint16, x, y, peak float64) {
	left, alongX := profile(x)
	top, alongY := profile(y)
	m.corner = [2]int{left, top}
	for j, gy := range alongY {
		row := top + j
		if row < 0 || row >= cameraSide {
			continue
		}
		for i, gx := range alongX {
			column := left + i
			if column < 0 || column >= cameraSide {
				continue
			}
			m.backdrop.light(dst, row*cameraSide+column, peak*gx*gy)
		}
	}
}

// profile returns the coil's light along one axis, 1 at the centre, for the pixels from first on.
func profile(centre float64) (first int, light [2 * coilReach]float64) {
	first = int(math.Round(min(max(centre, -cameraSide), 2*cameraSide))) - coilReach
	for i := range light {
		u := float64(first+i) + 0.5 - centre
		light[i] = math.Exp(-u * u / (2 * coilSD * coilSD))
	}
	return first, light
}

// Painter draws the scene molecule along a path that the caller gives. The molecule does not bleach. Not safe for concurrent use.
type Painter struct{ draw renderer }

// NewPainter returns a Painter whose camera noise starts from seed.
func NewPainter(seed uint64) (*Painter, error) {
	draw, err := newMolecule(Options{Render: Subpixel}, extent{}, rand.NewPCG(seed, pixelStream))
	return &Painter{draw}, err
}

// Format returns the format of every picture.
func (p *Painter) Format() Format { return p.draw.format() }

// Draw draws the molecule at z, µm from the picture's centre, into dst. It reports false if z lies beyond the picture.
func (p *Painter) Draw(dst *Picture, z []float64) bool {
	dst.reset(p.draw.format())
	return p.draw.render(dst, z, 0)
}
