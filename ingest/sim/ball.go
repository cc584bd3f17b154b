package sim

import (
	"math"
	"math/rand/v2"
)

const (
	ballSide   = 64  // px, width and height of the picture
	ballRadius = 7.0 // px; the centre then has the 48 px of the published pictures
	ballMargin = ballRadius + 1
)

// ball draws a yellow disc on black, 64x64 in [0, 1].
//
// The centre is z·scale + shift, from ballMargin to ballSide - ballMargin. Both axes have the same scale: distances in the
// picture are distances in latent space, so a strict isometry can bring an encoder's latents onto the truth. z₁ points
// right, z₂ points down.
type ball struct {
	scale    float64    // px per latent unit
	shift    [2]float64 // px
	truncate bool       // the centre loses its fraction
}

func newBall(o Options, shown extent, _ *rand.PCG) (renderer, error) {
	b := &ball{scale: math.Inf(1), truncate: o.Render == Integer}
	for i := range b.shift {
		b.scale = min(b.scale, (ballSide-2*ballMargin)/(shown.hi[i]-shown.lo[i]))
	}
	if math.IsInf(b.scale, 1) { // one frame: a point has no extent
		b.scale = 1
	}
	for i := range b.shift {
		b.shift[i] = ballSide/2 - b.scale*(shown.lo[i]+shown.hi[i])/2
	}
	return b, nil
}

func (b *ball) format() Format {
	return Format{Width: ballSide, Height: ballSide, Channels: 3, Depth: Unit}
}

func (b *ball) render(dst *Picture, z []float64, _ float64) bool {
	x, insideX := b.centre(z, 0)
	y, insideY := b.centre(z, 1)
	clear(dst.F32)
	drawDisc(dst, x, y, ballRadius, [3]float32{0, 1, 1})
	return insideX && insideY
}

// centre maps one coordinate to pixels. It is inside up to a rounding error of the scaling.
func (b *ball) centre(z []float64, axis int) (px float64, inside bool) {
	const rounding = 1e-9
	want := b.scale*z[axis] + b.shift[axis]
	px = min(max(want, ballMargin), ballSide-ballMargin)
	inside = math.Abs(px-want) < rounding
	if b.truncate {
		px = math.Trunc(px)
	}
	return px, inside
}

// drawDisc adds a disc of the given colour (blue, green, red) around (x, y). A pixel on the rim gets the part of it that lies
// inside the tangent to the circle, 1/2 + radius - distance from the centre, limited to [0, 1].
func drawDisc(dst *Picture, x, y, radius float64, colour [3]float32) {
	reach := radius + 1
	left, right := max(0, int(x-reach)), min(dst.Width, int(x+reach)+1)
	top, bottom := max(0, int(y-reach)), min(dst.Height, int(y+reach)+1)
	for j := top; j < bottom; j++ {
		row := dst.F32[j*dst.Width*3 : (j+1)*dst.Width*3]
		for i := left; i < right; i++ {
			distance := math.Hypot(float64(i)+0.5-x, float64(j)+0.5-y)
			cover := float32(min(max(0.5+radius-distance, 0), 1))
			for c, v := range colour {
				row[3*i+c] += cover * v
			}
		}
	}
}
