package sim

import (
	"math"
	"math/rand/v2"
)

// Parameters of a DNA molecule of some 10,000 base pairs, in a solution 18 times as viscous as water. Light flashes, and an EMCCD records it. The squared
// extents of its coil have a correlation of only 0.04 between frames, so a film shows only the motion of the centre of mass.
const (
	dnaFrames = 100 // frames per molecule, as in the published films
	dnaDT     = 0.5 // s, the published loader's time axis

	dnaDiffusion = 0.06   // um²/s: a step has sd 2.4 px
	dnaGyration  = 0.3    // um, radius of gyration
	fieldGain    = 1.2    // relative increase of the diffusion along the field, per V²
	spotSD       = 0.2    // um: the point spread function
	dnaPhotons   = 3000.0 // photoelectrons per flash from the whole molecule

	patchSide = 64   // px, side of the square around the centre of mass in which the molecule's light is drawn
	spotReach = 10   // px, within which a segment's light is drawn; 2e-6 of it lies beyond
	dimmest   = 0.01 // photoelectrons; a pixel with less light from the molecule is drawn from the background's table
)

// drivenDNA is free diffusion, dz = diag(√2D, √(2D (1 + 1.2 V²))) dW in um, from the picture's centre. A noisy voltage along the second axis pulls every
// segment equally. It adds to the diffusion in proportion to its squared strength, and does not change coil or drift (Lameh, Ding and Stein, Phys. Rev. Applied
// 14, 2020). The gain comes from the published errors of image registration, 2.6, 4.3 and 8.3 for V = 0, 1 and 2. As mean squared steps they grow as 2 + 1.2
// V².
func drivenDNA(volts float64) SDE {
	law := brownian(dnaDT, 0, 0)
	law.Sigma = []float64{math.Sqrt(2 * dnaDiffusion), math.Sqrt(2 * dnaDiffusion * (1 + fieldGain*volts*volts))}
	return law
}

// dna draws a Rouse chain of equally bright segments. Its centre of mass is z₁ to the right of and z₂ below the picture's centre.
type dna struct {
	backdrop *backdrop
	chain    *rouse
	corner   [2]int                         // corner of the patch drawn last
	glow     [patchSide * patchSide]float64 // photoelectrons from the molecule in the patch
	across   [2 * spotReach]float64         // a segment's light along one axis
	down     [2 * spotReach]float64
}

func newDNA(o Options, _ extent, pixels *rand.PCG) (renderer, error) {
	empty, err := newBackdrop(o, pixels)
	if err != nil {
		return nil, err
	}
	return &dna{backdrop: empty, chain: newRouse(dnaGyration, dnaDiffusion, dnaDT, empty.rng)}, nil
}

func (d *dna) format() Format { return d.backdrop.format() }

func (d *dna) render(dst *Picture, z []float64, age float64) bool {
	if age == 0 {
		d.chain.relax()
	} else {
		d.chain.step()
	}
	d.backdrop.draw(dst.U16)
	x, y := cameraSide/2+pxPerUM*z[0], cameraSide/2+pxPerUM*z[1]
	inside := d.backdrop.holds(x, y)
	if inside {
		d.flash(dst.U16, x, y)
	}
	return inside
}

// flash draws the molecule's light in the patch around its centre of mass (x, y).
func (d *dna) flash(dst []uint16, x, y float64) {
	left, top := int(x)-patchSide/2, int(y)-patchSide/2
	d.corner = [2]int{left, top}
	d.expose(x-float64(left), y-float64(top), &d.chain.mode)
	for i, electrons := range d.glow {
		column, row := left+i%patchSide, top+i/patchSide
		if electrons > dimmest && column >= 0 && column < cameraSide && row >= 0 && row < cameraSide {
			d.backdrop.light(dst, row*cameraSide+column, electrons)
		}
	}
}

// expose adds the segments' light to the patch, with the centre of mass at (x, y).
func (d *dna) expose(x, y float64, mode *[modes][2]float64) {
	const (
		sd   = pxPerUM * spotSD
		peak = dnaPhotons / segments / (2 * math.Pi * sd * sd)
	)
	clear(d.glow[:])
	for _, r := range d.chain.places(mode) {
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

// spot computes a segment's light along one axis of the patch, 1 at its centre, for the pixels from first on. It cuts off light beyond the patch, 7 radii of
// gyration from its centre.
func spot(light *[2 * spotReach]float64, centre, sd float64) (first int) {
	first = min(max(int(math.Round(centre))-spotReach, 0), patchSide-2*spotReach)
	for i := range light {
		u := float64(first+i) + 0.5 - centre
		light[i] = math.Exp(-u * u / (2 * sd * sd))
	}
	return first
}

// The number of segments and modes of the chain. The 16 modes contain 0.96 of the squared radius of gyration.
const (
	segments = 64
	modes    = 16
)

// rouse is an ideal chain's shape in solution, projected onto the picture's plane (Rouse 1953; Doi and Edwards, "The Theory
// of Polymer Dynamics", 1986, section 4.1). Relative to its centre of mass, segment n = 0 .. N-1 is at
//
//	r_n = 2 Σ_p X_p cos(πp (n + 1/2)/N),
//
// and each component of each mode X_p is an Ornstein-Uhlenbeck process with
//
//	⟨X_p²⟩ = R_g²/(πp)²,   τ_p = τ₁/p²,   τ₁ = 2 R_g²/(π² D),
//
// where D is the diffusion of the centre of mass. A step is exact: X ← a X + √(1 - a²) sd ξ, a = exp(-Δt/τ_p).
type rouse struct {
	rng   *rand.Rand
	sd    [modes]float64 // of a component, um
	keep  [modes]float64 // a
	mode  [modes][2]float64
	wave  [modes][segments]float64 // 2 cos(πp (n + 1/2)/N)
	place [segments][2]float64
}

// newRouse returns a chain with the given radius of gyration and diffusion, observed every dt. Call relax before the first
// use.
func newRouse(gyration, diffusion, dt float64, rng *rand.Rand) *rouse {
	c := &rouse{rng: rng}
	slowest := 2 * gyration * gyration / (math.Pi * math.Pi * diffusion)
	for i := range modes {
		p := float64(i + 1)
		c.sd[i] = gyration / (math.Pi * p)
		c.keep[i] = math.Exp(-dt * p * p / slowest)
		for n := range segments {
			c.wave[i][n] = 2 * math.Cos(math.Pi*p*(float64(n)+0.5)/segments)
		}
	}
	return c
}

// relax draws a shape at equilibrium.
func (c *rouse) relax() {
	for i := range c.mode {
		for k := range c.mode[i] {
			c.mode[i][k] = c.sd[i] * c.rng.NormFloat64()
		}
	}
}

// step advances the shape by dt.
func (c *rouse) step() {
	for i, a := range c.keep {
		kick := c.sd[i] * math.Sqrt(1-a*a)
		for k := range c.mode[i] {
			c.mode[i][k] = a*c.mode[i][k] + kick*c.rng.NormFloat64()
		}
	}
}

// places returns the segments relative to the centre of mass, um, valid until the next call.
func (c *rouse) places(mode *[modes][2]float64) *[segments][2]float64 {
	clear(c.place[:])
	for i, m := range mode {
		for n, w := range c.wave[i] {
			c.place[n][0] += w * m[0]
			c.place[n][1] += w * m[1]
		}
	}
	return &c.place
}
