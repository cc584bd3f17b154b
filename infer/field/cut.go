package field

import (
	"math"
	"slices"

	"driftscope/infer/card"
)

// cutter cuts squares out of a picture, each centred on a position. It interpolates by Keys's cubic convolution (1981, a = -1/2). Linear interpolation would
// flatten a Gaussian of sd s by up to 1/8s² of its height, depending on its position between pixels, and a model would learn this as an appearance.
type cutter struct {
	how    card.Objects
	side   int
	parts  int       // samples averaged per px of the square, along each axis
	values []float32 // side × side
	border []float32
	across []sample // positions of the samples in a row and in a column
	down   []sample
	rows   []float32 // rows of the picture under the square, interpolated at the positions across
}

// sample is a position between four pixels, with their weights.
type sample struct {
	at     [taps]int
	weight [taps]float32
}

const taps = 4

func newCutter(side int, how card.Objects) *cutter {
	parts := int(math.Ceil(how.Scale))
	n := side * parts
	return &cutter{how: how, side: side, parts: parts, values: make([]float32, side*side), border: make([]float32, 0, 4*side),
		across: make([]sample, n), down: make([]sample, n), rows: make([]float32, 0, (n+taps)*side)}
}

// cut fills c.values with the square around (x, y), minus the median along its border. If the card has levels, it maps these to [0, 1].
func (c *cutter) cut(p *Pixels, x, y float64) {
	c.lay(c.across, x, p.W)
	c.lay(c.down, y, p.H)
	top := c.down[0].at[0]
	c.sweep(p, top, c.down[len(c.down)-1].at[taps-1])
	clear(c.values)
	for i := range c.down {
		d, row := &c.down[i], c.values[i/c.parts*c.side:][:c.side]
		for k, w := range d.weight {
			w /= float32(c.parts)
			for j, v := range c.rows[(d.at[k]-top)*c.side:][:c.side] {
				row[j] += w * v
			}
		}
	}
	c.level(Around(c.values, c.side, c.border))
}

// sweep interpolates rows first to last of the picture at the square's columns.
func (c *cutter) sweep(p *Pixels, first, last int) {
	c.rows = c.rows[:0]
	each := 1 / float32(c.parts)
	for y := first; y <= last; y++ {
		line := p.Values[y*p.W:][:p.W]
		for i := 0; i < len(c.across); i += c.parts {
			var sum float32
			for j := range c.across[i : i+c.parts] {
				a := &c.across[i+j]
				sum += a.weight[0]*line[a.at[0]] + a.weight[1]*line[a.at[1]] + a.weight[2]*line[a.at[2]] + a.weight[3]*line[a.at[3]]
			}
			c.rows = append(c.rows, sum*each)
		}
	}
}

// lay places the samples of one axis around the coordinate `place`. The picture has n pixels along the axis; beyond its edge the last pixel repeats.
func (c *cutter) lay(samples []sample, place float64, n int) {
	step := c.how.Scale / float64(c.parts)
	for i := range samples {
		at := min(max(place+(float64(i)-float64(len(samples)-1)/2)*step, 0), float64(n-1))
		whole := int(at)
		t := float32(at - float64(whole))
		s := &samples[i]
		for k := range s.at {
			s.at[k] = min(max(whole-1+k, 0), n-1)
		}
		s.weight = [taps]float32{t * (-0.5 + t*(1-0.5*t)), 1 + t*t*(-2.5+1.5*t), t * (0.5 + t*(2-1.5*t)), t * t * (-0.5 + 0.5*t)}
	}
}

// Around returns the median along a square's border, which is the level around the object. One neighbour on the border does not change it. border is scratch.
func Around(square []float32, side int, border []float32) float32 {
	last := side * (side - 1)
	border = append(append(border[:0], square[:side]...), square[last:]...)
	for row := side; row < last; row += side {
		border = append(border, square[row], square[row+side-1])
	}
	slices.Sort(border)
	return border[len(border)/2]
}

// level subtracts the level around the object, and maps known levels to [0, 1].
func (c *cutter) level(around float32) {
	sign, low, scale := float32(1), float32(0), float32(1)
	if c.how.Dark {
		sign = -1
	}
	known := !math.IsInf(c.how.High, 1)
	if known {
		low, scale = float32(c.how.Low), 1/float32(c.how.High-c.how.Low)
	}
	for i, v := range c.values {
		v = (sign*(v-around) - low) * scale
		if known {
			v = min(max(v, 0), 1)
		}
		c.values[i] = v
	}
}
