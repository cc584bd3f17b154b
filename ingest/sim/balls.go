package sim

import (
	"math"
	"math/rand/v2"
)

const (
	ballRadius = 7.0 // px; leaves centres a range of 48 px, as in the published pictures
	ballMargin = ballRadius + 1
)

// ball draws a yellow disc on black, 64x64 in [0, 1], at (z₁, z₂).
type ball struct{ plane plane }

func newBall(o Options, shown extent, _ *rand.PCG) (renderer, error) {
	return &ball{newPlane(o, ballMargin, [2]float64(shown.lo), [2]float64(shown.hi))}, nil
}

func (b *ball) format() Format { return colour() }

func (b *ball) render(dst *Picture, z []float64, _ float64) bool {
	clear(dst.F32)
	return b.draw(dst, z)
}

// draw draws the ball on top of dst.
func (b *ball) draw(dst *Picture, z []float64) bool {
	x, insideX := b.plane.centre(0, z[0])
	y, insideY := b.plane.centre(1, z[1])
	drawDisc(dst, x, y, ballRadius, [3]float32{0, 1, 1})
	return insideX && insideY
}

// drawDisc draws a disc around (x, y) with the given colour (blue, green, red) on top of dst.
func drawDisc(dst *Picture, x, y, radius float64, colour [3]float32) {
	disc(dst, x, y, radius, func(pixel []float32, cover float32) {
		for c, v := range colour {
			pixel[c] += cover * (v - pixel[c])
		}
	})
}

// disc visits the pixels of a disc around (x, y). cover is the covered fraction of a pixel. On the rim it is the part inside the tangent to the circle: 1/2 +
// radius - distance from the centre, limited to [0, 1].
func disc(dst *Picture, x, y, radius float64, paint func(pixel []float32, cover float32)) {
	reach := radius + 1
	left, right := max(0, int(x-reach)), min(dst.Width, int(x+reach)+1)
	top, bottom := max(0, int(y-reach)), min(dst.Height, int(y+reach)+1)
	for j := top; j < bottom; j++ {
		row := dst.F32[j*dst.Width*3 : (j+1)*dst.Width*3]
		for i := left; i < right; i++ {
			distance := math.Hypot(float64(i)+0.5-x, float64(j)+0.5-y)
			cover := min(max(0.5+radius-distance, 0), 1)
			paint(row[3*i:3*i+3], float32(cover))
		}
	}
}

// ballPlaces are the points that the five balls revert to, in latent units: the corners of a square and its centre.
var ballPlaces = [][]float64{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}, {0, 0}}

// blue is the colour of the published balls (blue, green, red).
var blue = [3]float32{1, 0.5, 0}

// balls draws a blue disc on black, 64x64 in [0, 1], at each pair (z₁, z₂), (z₃, z₄), ... of one plane. The light of
// overlapping discs adds up, to 1 at most.
//
// By mistake, the published pictures show columns 1 and 2 of z, then 2 and 3, up to 5 and 6, so the last four never appear. Their light also exceeds 1, which a
// decoder that ends in a sigmoid cannot reach. balls avoids both.
type balls struct{ plane plane }

func newBalls(o Options, shown extent, _ *rand.PCG) (renderer, error) {
	lo, hi := [2]float64(shown.lo), [2]float64(shown.hi)
	for i := range shown.lo {
		lo[i%2], hi[i%2] = min(lo[i%2], shown.lo[i]), max(hi[i%2], shown.hi[i])
	}
	return &balls{newPlane(o, ballMargin, lo, hi)}, nil
}

func (b *balls) format() Format { return colour() }

func (b *balls) render(dst *Picture, z []float64, _ float64) bool {
	clear(dst.F32)
	inside := true
	for i := 0; i < len(z); i += 2 {
		x, insideX := b.plane.centre(0, z[i])
		y, insideY := b.plane.centre(1, z[i+1])
		addDisc(dst, x, y, ballRadius, blue)
		inside = inside && insideX && insideY
	}
	return inside
}

// addDisc adds a disc's light to dst, up to 1.
func addDisc(dst *Picture, x, y, radius float64, colour [3]float32) {
	disc(dst, x, y, radius, func(pixel []float32, cover float32) {
		for c, v := range colour {
			pixel[c] = min(pixel[c]+cover*v, 1)
		}
	})
}
