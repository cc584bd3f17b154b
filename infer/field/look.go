package field

import (
	"math"

	"driftscope/infer/card"
)

// Look computes numbers from the picture around an object.
type Look interface {
	// Latents returns how many numbers See writes.
	Latents() int
	// See writes the numbers for the object at (x, y), and their standard deviations if it has any.
	See(z, sd []float64, p *Pixels, x, y float64) error
	// Close frees the memory of the Look.
	Close() error
}

// Pixels is a grey picture, lent.
type Pixels struct {
	Values []float32
	H, W   int
}

// Square is a Look for the training of a model: it returns the pixels around an object, in grey levels above the object's surroundings.
type Square struct{ cut *cutter }

// NewSquare returns a Look of squares of side px, each scale px of the frame wide.
func NewSquare(side int, scale float64, dark bool) *Square {
	return &Square{newCutter(side, card.Objects{Scale: scale, Dark: dark, Low: math.Inf(-1), High: math.Inf(1)})}
}

// Latents returns the number of pixels.
func (s *Square) Latents() int { return len(s.cut.values) }

// See writes the pixels, row after row; they have no standard deviation.
func (s *Square) See(z, _ []float64, p *Pixels, x, y float64) error {
	s.cut.cut(p, x, y)
	for i, v := range s.cut.values {
		z[i] = float64(v)
	}
	return nil
}

// Close does nothing.
func (s *Square) Close() error { return nil }
