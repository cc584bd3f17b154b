package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// One fluorescent DNA molecule in solution, held by a weak trap and seen by an EMCCD at 56 frames/s.
const (
	moleculeSide = 512 // px, width and height
	pxPerUM      = 10  // 0.1 um a pixel in the sample
	moleculeDT   = 1.0 / 56

	diffusion  = 2.0   // um²/s: a step has sd 2.7 px
	stiffness  = 1.0   // 1/s: the position has sd 14 px
	coilSD     = 6.0   // px: the coil, widened by the point spread function
	coilReach  = 25    // px: beyond, the coil adds less than 0.01 photoelectrons
	coilPeak   = 40.0  // photoelectrons a frame in the fresh molecule's brightest pixel, 10 times the background's sd
	bleachTime = 600.0 // s in which the fluorescence falls to 1/e
	bleachedTo = 1.0 / 3

	backgroundLow  = 6.0 // photoelectrons a frame far from the middle of the illumination
	backgroundHigh = 10.0
	backgroundSD   = 230.0 // px, width of the illumination
	backgroundX    = 230.0 // px, its middle: no microscope is perfectly aligned
	backgroundY    = 285.0
	levels         = 64 // steps of the background, each 1.3 counts of 80 counts of noise
)

// trappedMolecule is dz = -κ z dt + √(2D) dW in um, from wherever the molecule was caught.
func trappedMolecule() SDE {
	law := ornsteinUhlenbeck(2, stiffness, math.Sqrt(2*diffusion), moleculeDT)
	law.X0 = nil
	return law
}

// moleculeLife is the number of frames until bleaching has left bleachedTo of the fluorescence; then a fresh molecule is caught.
func moleculeLife() int { return int(math.Ceil(bleachTime * math.Log(1/bleachedTo) / moleculeDT)) }

// molecule draws a Gaussian coil at 10 px/um around the picture's centre, z₁ to the right and z₂ down, on an uneven background,
// as 16-bit counts of an EMCCD. Where the coil adds nothing a pixel's law is one of a few fixed ones, drawn from tables.
type molecule struct {
	camera emccd
	rate   [levels]float64     // photoelectrons a frame at each background level
	noise  [levels]*noiseTable // the law of the counts there
	level  []uint8             // of every pixel
	bits   *rand.PCG
	rng    *rand.Rand // draws from bits
}

func newMolecule(o Options, _ extent, pixels *rand.PCG) (renderer, error) {
	if o.Render != Subpixel {
		return nil, fmt.Errorf("render is %q: this scene draws %s only", o.Render, Subpixel)
	}
	m := &molecule{
		camera: emccd{offset: 480, gain: 20, read: 6},
		level:  make([]uint8, moleculeSide*moleculeSide),
		bits:   pixels,
		rng:    rand.New(pixels),
	}
	for i := range levels {
		m.rate[i] = backgroundLow + (backgroundHigh-backgroundLow)*float64(i)/(levels-1)
		m.noise[i] = m.camera.table(m.rate[i])
	}
	for i := range m.level {
		x, y := float64(i%moleculeSide)+0.5-backgroundX, float64(i/moleculeSide)+0.5-backgroundY
		light := math.Exp(-(x*x + y*y) / (2 * backgroundSD * backgroundSD))
		m.level[i] = uint8(math.Round(light * (levels - 1)))
	}
	return m, nil
}

func (m *molecule) format() Format {
	return Format{Width: moleculeSide, Height: moleculeSide, Channels: 1, Depth: Counts}
}

func (m *molecule) render(dst *Picture, z []float64, age float64) bool {
	m.drawBackground(dst.U16)
	x, y := moleculeSide/2+pxPerUM*z[0], moleculeSide/2+pxPerUM*z[1]
	m.drawCoil(dst.U16, x, y, coilPeak*math.Exp(-age/bleachTime))
	return x >= 0 && x < moleculeSide && y >= 0 && y < moleculeSide
}

// drawBackground draws every pixel from its level's table, two a random word.
func (m *molecule) drawBackground(dst []uint16) {
	for i := 0; i < len(dst); i += 2 {
		bits := m.bits.Uint64()
		dst[i] = m.noise[m.level[i]].draw(uint32(bits))
		dst[i+1] = m.noise[m.level[i+1]].draw(uint32(bits >> 32))
	}
}

// drawCoil draws the pixels within coilReach of (x, y) anew, with the molecule's light; (x, y) may lie outside the picture.
func (m *molecule) drawCoil(dst []uint16, x, y, peak float64) {
	left, alongX := profile(x)
	top, alongY := profile(y)
	for j, gy := range alongY {
		row := top + j
		if row < 0 || row >= moleculeSide {
			continue
		}
		for i, gx := range alongX {
			column := left + i
			if column < 0 || column >= moleculeSide {
				continue
			}
			pixel := row*moleculeSide + column
			dst[pixel] = m.camera.sample(m.rng, m.rate[m.level[pixel]]+peak*gx*gy)
		}
	}
}

// profile is the coil's light along one axis, 1 at the centre, for the pixels from first on.
func profile(centre float64) (first int, light [2 * coilReach]float64) {
	first = int(math.Round(min(max(centre, -moleculeSide), 2*moleculeSide))) - coilReach
	for i := range light {
		u := float64(first+i) + 0.5 - centre
		light[i] = math.Exp(-u * u / (2 * coilSD * coilSD))
	}
	return first, light
}
