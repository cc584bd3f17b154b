package field

import (
	"math"

	"driftscope/infer/card"
)

// Look computes numbers that describe an object, from the picture around it.
type Look interface {
	// Latents returns the number of values that See writes.
	Latents() int
	// See writes to z the values for the object at (x, y), and to sd their standard deviations if there are any.
	See(z, sd []float64, p *Pixels, x, y float64) error
	// Close frees the memory of the Look.
	Close() error
}

// Pixels is a grey picture. Its memory belongs to the frame.
type Pixels struct {
	Values []float32
	H, W   int
}

// Square is a Look for the training of a model. It returns the pixels around an object, in grey levels above the object's surroundings.
type Square struct{ cut *cutter }

// NewSquare returns a Look of squares of side px, each scale px of the frame wide.
func NewSquare(side int, scale float64, dark bool) *Square {
	return &Square{newCutter(side, card.Objects{Scale: scale, Dark: dark, Low: math.Inf(-1), High: math.Inf(1)})}
}

// Latents returns the number of pixels.
func (s *Square) Latents() int { return len(s.cut.values) }

// See writes the pixels, row by row. They have no standard deviation.
func (s *Square) See(z, _ []float64, p *Pixels, x, y float64) error {
	s.cut.cut(p, x, y)
	for i, v := range s.cut.values {
		z[i] = float64(v)
	}
	return nil
}

// Close does nothing.
func (s *Square) Close() error { return nil }
