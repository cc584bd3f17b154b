package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Parameters of an EMCCD's picture of an unevenly lit solution.
const (
	cameraSide = 512 // px, width and height

	backgroundLow  = 6.0 // photoelectrons per frame far from the centre of the illumination
	backgroundHigh = 10.0
	backgroundSD   = 230.0 // px, width of the illumination
	backgroundX    = 230.0 // px, centre of the illumination: off the picture's centre, as in any real microscope
	backgroundY    = 285.0
	levels         = 64 // steps of the background; a step is 1.3 counts, the noise 80 counts
)

// backdrop is the camera's picture behind a molecule, as 16-bit counts. Each pixel follows one of a few fixed distributions,
// drawn from tables.
type backdrop struct {
	camera emccd
	rate   [levels]float64     // photoelectrons per frame at each background level
	noise  [levels]*NoiseTable // distribution of the counts at each level
	level  []uint8             // level of every pixel
	bits   *rand.PCG
	rng    *rand.Rand // draws from bits
	kept   []float64  // cached Fisher information at geometric steps of photoelectrons; see information
}

func newBackdrop(o Options, pixels *rand.PCG) (*backdrop, error) {
	if o.Render != Subpixel {
		return nil, fmt.Errorf("render is %q, but this scene supports only %s", o.Render, Subpixel)
	}
	b := &backdrop{
		camera: emccd{offset: 480, gain: 20, read: 6},
		level:  make([]uint8, cameraSide*cameraSide),
		bits:   pixels,
		rng:    rand.New(pixels),
	}
	for i := range levels {
		b.rate[i] = backgroundLow + (backgroundHigh-backgroundLow)*float64(i)/(levels-1)
		b.noise[i] = b.camera.table(b.rate[i])
	}
	for i := range b.level {
		x, y := float64(i%cameraSide)+0.5-backgroundX, float64(i/cameraSide)+0.5-backgroundY
		light := math.Exp(-(x*x + y*y) / (2 * backgroundSD * backgroundSD))
		b.level[i] = uint8(math.Round(light * (levels - 1)))
	}
	return b, nil
}

func (b *backdrop) format() Format {
	return Format{Width: cameraSide, Height: cameraSide, Channels: 1, Depth: Counts}
}

// draw draws every pixel from its level's table, two per random word.
func (b *backdrop) draw(dst []uint16) {
	for i := 0; i < len(dst); i += 2 {
		bits := b.bits.Uint64()
		dst[i] = b.noise[b.level[i]].draw(uint32(bits))
		dst[i+1] = b.noise[b.level[i+1]].draw(uint32(bits >> 32))
	}
}

// light redraws one pixel, with the given photoelectrons on top of the background.
func (b *backdrop) light(dst []uint16, pixel int, electrons float64) {
	dst[pixel] = b.camera.sample(b.rng, b.rate[b.level[pixel]]+electrons)
}

// holds reports whether a point lies in the picture.
func (b *backdrop) holds(x, y float64) bool {
	return x >= 0 && x < cameraSide && y >= 0 && y < cameraSide
}
