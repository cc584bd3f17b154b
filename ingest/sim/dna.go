package sim

import (
	"math"
	"math/rand/v2"
)

// A DNA molecule of some 10,000 base pairs in a syrup 18 times as thick as water, seen in flashes by an EMCCD. The squared extents of
// its coil have a correlation of 0.04 from one frame to the next, so the centre of mass is all that a film can follow.
const (
	dnaFrames = 100 // of a film, as published; then comes another molecule
	dnaDT     = 0.5 // s, the published loader's time axis

	dnaDiffusion = 0.06   // um²/s: a step has sd 2.4 px
	dnaGyration  = 0.3    // um, radius of gyration
	fieldGain    = 1.2    // of the diffusion along the field, per V²
	spotSD       = 0.2    // um: the point spread function
	dnaPhotons   = 3000.0 // photoelectrons a flash from the whole molecule

	patchSide = 64   // px, of the square around the centre of mass that the molecule may light
	spotReach = 10   // px: beyond lie 2e-6 of a segment's light
	dimmest   = 0.01 // photoelectrons below which a pixel keeps the background's table
)

// drivenDNA is free diffusion, dz = diag(√2D, √(2D (1 + 1.2 V²))) dW in um, from the picture's centre: a noisy voltage along the
// second axis pulls on every segment alike. It adds to the diffusion by the square of its strength, and leaves coil and drift alone
// (Lameh, Ding and Stein, Phys. Rev. Applied 14, 2020). The gain is that of the published errors of image registration, 2.6, 4.3 and
// 8.3 for V = 0, 1 and 2, read as mean squared steps, which go as 2 + 1.2 V².
func drivenDNA(volts float64) SDE {
	law := brownian(dnaDT, 0, 0)
	law.Sigma = []float64{math.Sqrt(2 * dnaDiffusion), math.Sqrt(2 * dnaDiffusion * (1 + fieldGain*volts*volts))}
	return law
}

// dna draws a Rouse chain of equally bright segments around its centre of mass, z₁ to the right and z₂ down of the picture's centre.
type dna struct {
	*backdrop
	chain  *rouse
	glow   [patchSide * patchSide]float64 // photoelectrons of the molecule
	across [2 * spotReach]float64         // a segment's light along each axis
	down   [2 * spotReach]float64
}

func newDNA(o Options, _ extent, pixels *rand.PCG) (renderer, error) {
	empty, err := newBackdrop(o, pixels)
	if err != nil {
		return nil, err
	}
	return &dna{backdrop: empty, chain: newRouse(dnaGyration, dnaDiffusion, dnaDT, empty.rng)}, nil
}

func (d *dna) render(dst *Picture, z []float64, age float64) bool {
	if age == 0 {
		d.chain.relax()
	} else {
		d.chain.step()
	}
	d.draw(dst.U16)
	x, y := cameraSide/2+pxPerUM*z[0], cameraSide/2+pxPerUM*z[1]
	inside := d.holds(x, y)
	if inside {
		d.flash(dst.U16, x, y)
	}
	return inside
}

// flash lights the pixels that the chain around (x, y) reaches and that the picture has.
func (d *dna) flash(dst []uint16, x, y float64) {
	left, top := int(x)-patchSide/2, int(y)-patchSide/2
	d.expose(x-float64(left), y-float64(top))
	for i, electrons := range d.glow {
		column, row := left+i%patchSide, top+i/patchSide
		if electrons > dimmest && column >= 0 && column < cameraSide && row >= 0 && row < cameraSide {
			d.light(dst, row*cameraSide+column, electrons)
		}
	}
}

// expose adds up the segments' light on the patch, with the centre of mass at (x, y).
func (d *dna) expose(x, y float64) {
	const (
		sd   = pxPerUM * spotSD
		peak = dnaPhotons / segments / (2 * math.Pi * sd * sd)
	)
	clear(d.glow[:])
	for _, r := range d.chain.places() {
		left := spot(&d.across, x+pxPerUM*r[0], sd)
		top := spot(&d.down, y+pxPerUM*r[1], sd)
		for j, gy := range d.down {
			row := d.glow[(top+j)*patchSide:]
			for i, gx := range d.across {
				row[left+i] += peak * gx * gy
			}
		}
	}
}

// spot is a segment's light along one axis of the patch, 1 at its centre, for the pixels from first on. What would lie
// beyond the patch, 7 radii of gyration away, is cut off.
func spot(light *[2 * spotReach]float64, centre, sd float64) (first int) {
	first = min(max(int(math.Round(centre))-spotReach, 0), patchSide-2*spotReach)
	for i := range light {
		u := float64(first+i) + 0.5 - centre
		light[i] = math.Exp(-u * u / (2 * sd * sd))
	}
	return first
}
