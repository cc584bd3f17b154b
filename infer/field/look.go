package field

import (
	"math"

	"driftscope/infer/card"
)

// Look is what is made of the picture around an object.
type Look interface {
	// Latents is how many numbers that is.
	Latents() int
	// See writes them for the object at a place of the picture, and their standard deviations where there are any.
	See(z, sd []float64, p *Pixels, x, y float64) error
	// Close frees what it holds.
	Close() error
}

// Pixels is a grey picture, lent.
type Pixels struct {
	Values []float32
	H, W   int
}

// Square is a Look: the picture around an object itself, in grey levels above what is around it, for those who are about to learn a model.
type Square struct{ cut *cutter }

// NewSquare cuts out squares of a side, px, each of so many px of the frame.
func NewSquare(side int, scale float64, dark bool) *Square {
	return &Square{newCutter(side, card.Objects{Scale: scale, Dark: dark, Low: math.Inf(-1), High: math.Inf(1)})}
}

// Latents is the number of pixels.
func (s *Square) Latents() int { return len(s.cut.values) }

// See writes the pixels, row after row; they have no standard deviation.
func (s *Square) See(z, _ []float64, p *Pixels, x, y float64) error {
	s.cut.cut(p, x, y)
	for i, v := range s.cut.values {
		z[i] = float64(v)
	}
	return nil
}

// Close has nothing to free.
func (s *Square) Close() error { return nil }
