//go:build cgo

package field

import "driftscope/infer"

// Appearance is a Look that returns the latents of a model of objects. It belongs to one goroutine.
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

// See writes NaN latents if the square has a NaN pixel.
func (a *Appearance) See(z, sd []float64, p *Pixels, x, y float64) error {
	a.cut.cut(p, x, y)
	return a.encoder.EncodeValues(z, sd, a.cut.values)
}

// Close frees the encoder.
func (a *Appearance) Close() error { return a.encoder.Close() }
