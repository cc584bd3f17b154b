package field

import (
	"math"
	"math/rand/v2"
	"slices"
)

// depth is the distance from the focus, px, at which a spot is √2 as wide as in focus.
const depth = 4.0

// optics draws spots. A point at z spreads as a Gaussian of sd s(z) = s(0) √(1 + (z/depth)²), integrated over pixels, with
// constant total light.
type optics struct {
	o      Options
	peak   float64      // photons in the centre pixel of a spot in focus with full light
	norm   float64      // fraction of the light along one axis that falls into the centre pixel
	shares [2][]float64 // scratch: along x and along y
}

func newOptics(o Options) optics {
	r := (o.SNR + math.Sqrt(o.SNR*o.SNR+4*o.Background)) / 2
	return optics{o: o, peak: r*r - o.Background, norm: math.Erf(0.5 / (math.Sqrt2 * o.SD))}
}

// width returns the sd of a spot at z, px.
func (c *optics) width(z float64) float64 { return c.o.SD * math.Sqrt(1+z*z/(depth*depth)) }

// light calls add with the light of an object in each nearby pixel, in photons.
func (c *optics) light(p Point, add func(pixel int, photons float64)) {
	if p.Light == 0 {
		return
	}
	sd := c.width(p.Z)
	reach := int(math.Ceil(4.3 * sd)) // 2e-5 of the light along an axis lies beyond
	x0, y0 := int(math.RoundToEven(p.X))-reach, int(math.RoundToEven(p.Y))-reach
	for axis := range c.shares {
		c.shares[axis] = slices.Grow(c.shares[axis][:0], 2*reach+1)[:2*reach+1]
	}
	c.share(c.shares[0], x0, p.X, sd)
	c.share(c.shares[1], y0, p.Y, sd)
	peak := c.peak * p.Light
	for j, v := range c.shares[1] {
		y := y0 + j
		if y < 0 || y >= c.o.Height {
			continue
		}
		for i, u := range c.shares[0] {
			if x := x0 + i; x >= 0 && x < c.o.Width {
				add(y*c.o.Width+x, peak*u*v)
			}
		}
	}
}

// share computes the light along an axis in the pixels from first on, relative to the centre pixel of a spot in focus.
func (c *optics) share(dst []float64, first int, centre, sd float64) {
	edge := 1 / (math.Sqrt2 * sd)
	below := math.Erf((float64(first) - 0.5 - centre) * edge)
	for i := range dst {
		above := math.Erf((float64(first+i) + 0.5 - centre) * edge)
		dst[i] = 0.5 * (above - below) / c.norm
		below = above
	}
}

// bright is the mean above which a rounded normal draw replaces a Poisson count. The difference is then invisible in a film.
const bright = 60

// poisson draws a Poisson count, by inversion for means up to bright.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > bright {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	p := math.Exp(-mean)
	u, n := rng.Float64(), 0
	for sum := p; u > sum && n < 400; sum += p {
		n++
		p *= mean / float64(n)
	}
	return n
}
