package sim

import "math/rand/v2"

// ballPlaces are where the five balls revert to, in latent units: the corners of a square and its middle.
var ballPlaces = [][]float64{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}, {0, 0}}

// blue is the colour of the published balls (blue, green, red).
var blue = [3]float32{1, 0.5, 0}

// balls draws a blue disc on black, 64x64 in [0, 1], at each pair (z₁, z₂), (z₃, z₄), ... of one plane. Where discs overlap their
// light adds up, to 1 at most.
//
// The published pictures show the columns 1 and 2 of z, then 2 and 3, 3 and 4, up to 5 and 6, so that the last four never appear.
// That mistake is not repeated, and their light goes beyond 1, where no sigmoid follows it.
type balls struct{ plane }

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
		x, insideX := b.centre(0, z[i])
		y, insideY := b.centre(1, z[i+1])
		addDisc(dst, x, y, ballRadius, blue)
		inside = inside && insideX && insideY
	}
	return inside
}

// addDisc adds a disc's light to what dst shows, to 1 at most.
func addDisc(dst *Picture, x, y, radius float64, colour [3]float32) {
	disc(dst, x, y, radius, func(pixel []float32, cover float32) {
		for c, v := range colour {
			pixel[c] = min(pixel[c]+cover*v, 1)
		}
	})
}
