//go:build cgo

package field

import "driftscope/infer"

// Appearance is a Look that computes the latents of an object with a model of objects. It belongs to one goroutine.
type Appearance struct {
	encoder *infer.Encoder
	cut     *cutter
}

// NewAppearance opens a model whose card has Objects.
func NewAppearance(m *infer.Model) (*Appearance, error) {
	encoder, err := m.NewEncoder()
	if err != nil {
		return nil, err
	}
	return &Appearance{encoder, newCutter(m.Card.Input.Width, *m.Card.Objects)}, nil
}

// Latents returns the model's latent dimension.
func (a *Appearance) Latents() int { return a.encoder.Dim() }

// See writes the latents of the object at (x, y) and their sds. If the square around it has a NaN pixel, the latents are NaN.
func (a *Appearance) See(z, sd []float64, p *Pixels, x, y float64) error {
	a.cut.cut(p, x, y)
	return a.encoder.EncodeValues(z, sd, a.cut.values)
}

// Close frees the encoder.
func (a *Appearance) Close() error { return a.encoder.Close() }
