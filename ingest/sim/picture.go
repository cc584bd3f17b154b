package sim

import (
	"math"
)

// Depth is the type of a pixel's value.
type Depth int

const (
	// Counts are uint16 camera counts, in Picture.U16.
	Counts Depth = iota
	// Unit values are float32 in [0, 1], in Picture.F32.
	Unit
	// Real values are float32 in Picture.F32; noise may move them out of [0, 1].
	Real
)

// Format is a picture's size and pixel type.
type Format struct {
	Width, Height int
	Channels      int // 1 for grey; 3 for colour: blue, green, red interleaved, the pipeline's order
	Depth         Depth
}

// Values returns the number of values in a picture of this format.
func (f Format) Values() int { return f.Width * f.Height * f.Channels }

// Picture holds row-major pixels, top row first. Pixel (i, j) covers [i, i+1) × [j, j+1): the picture's centre is (Width/2,
// Height/2).
//
// Next reuses the memory of U16 or F32 if it is large enough. The caller may supply such memory.
type Picture struct {
	Format
	U16 []uint16
	F32 []float32
}

// reset gives p the format f and leaves the values unspecified.
func (p *Picture) reset(f Format) {
	p.Format = f
	if f.Depth == Counts {
		p.U16 = resize(p.U16, f.Values())
	} else {
		p.F32 = resize(p.F32, f.Values())
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// side is the width and height of the paper's pictures, px.
const side = 64

// colour returns the format of the paper's pictures.
func colour() Format { return Format{Width: side, Height: side, Channels: 3, Depth: Unit} }

// plane maps two latent coordinates to the picture, px = scale·z + shift. A given box of latent space then fills the picture except for a margin.
//
// Both axes have the same scale: distances in the picture are distances in latent space, so a strict isometry can map an
// encoder's latents to the truth. The first axis points right, the second down.
type plane struct {
	margin   float64    // px between a centre and every edge
	scale    float64    // px per latent unit
	shift    [2]float64 // px, where z = 0 lies
	truncate bool       // round centres down to whole pixels
}

// newPlane returns the plane that shows the box lo ≤ z ≤ hi.
func newPlane(o Options, margin float64, lo, hi [2]float64) plane {
	p := plane{margin: margin, scale: math.Inf(1), truncate: o.Render == Integer}
	for i := range p.shift {
		p.scale = min(p.scale, (side-2*margin)/(hi[i]-lo[i]))
	}
	if math.IsInf(p.scale, 1) { // a single frame has no extent
		p.scale = 1
	}
	for i := range p.shift {
		p.shift[i] = side/2 - p.scale*(lo[i]+hi[i])/2
	}
	return p
}

// rounding is the tolerance for a scaled coordinate beyond its range, px or fractions of the range.
const rounding = 1e-9

// centre maps one coordinate to pixels. It moves a centre that lies in the margin to the margin's edge, and then returns inside = false.
func (p *plane) centre(axis int, z float64) (px float64, inside bool) {
	want := p.scale*z + p.shift[axis]
	px = min(max(want, p.margin), side-p.margin)
	inside = math.Abs(px-want) < rounding
	if p.truncate {
		px = math.Trunc(px)
	}
	return px, inside
}
