package field

import (
	"math"

	"driftscope/infer"
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

// Appearance is a Look: the latents of a model of objects. It is for one goroutine.
type Appearance struct {
	encoder *infer.Encoder
	cut     *cutter
}

// NewAppearance opens a model whose card says how objects are cut out.
func NewAppearance(m *infer.Model) (*Appearance, error) {
	encoder, err := m.NewEncoder()
	if err != nil {
		return nil, err
	}
	return &Appearance{encoder, newCutter(m.Card.Input.Width, *m.Card.Objects)}, nil
}

// Latents are the model's.
func (a *Appearance) Latents() int { return a.encoder.Dim() }

// See writes numbers that are none where the picture has none.
func (a *Appearance) See(z, sd []float64, p *Pixels, x, y float64) error {
	a.cut.cut(p, x, y)
	return a.encoder.EncodeValues(z, sd, a.cut.values)
}

// Close frees the encoder.
func (a *Appearance) Close() error { return a.encoder.Close() }

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
