package card

import (
	"fmt"
	"math"
)

// Bounds on the square cut around an object. minTemplate and maxTemplate are the locator's bounds on the template's width.
const (
	MaxObjectSide  = 32 // px of Input: the encoder runs once per object
	MaxObjectScale = 64 // px of the frame per px of Input
	minTemplate    = 0.5
	maxTemplate    = 32
)

// Objects describes the square cut around each object. The object is at its centre, and the grey level around the object is subtracted.
type Objects struct {
	Template float64 `json:"template_px" yaml:"template_px"` // sd of an object's light, px of the frame
	Dark     bool    `json:"dark,omitempty" yaml:"dark,omitempty"`
	Scale    float64 `json:"scale" yaml:"scale"` // px of the frame per px of Input
	Low      float64 `json:"low" yaml:"low"`     // grey levels above the object's surroundings that map to 0 in Input
	High     float64 `json:"high" yaml:"high"`   // grey levels above the object's surroundings that map to 1 in Input
}

// validate checks o against its card.
func (o *Objects) validate(c *Card) error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch in := c.Input; {
	case in.Channels != 1 || in.Height != in.Width || in.Width > MaxObjectSide:
		return fmt.Errorf("input: found %dx%dx%d, expected a grey square of at most %d per side around an object", in.Channels, in.Height, in.Width, MaxObjectSide)
	case !(o.Template >= minTemplate && o.Template <= maxTemplate):
		return fmt.Errorf("objects.template_px: found %g, expected %g to %d", o.Template, minTemplate, maxTemplate)
	case !(o.Scale >= 1 && o.Scale <= MaxObjectScale):
		return fmt.Errorf("objects.scale: found %g, expected 1 to %d", o.Scale, MaxObjectScale)
	case !finite(o.Low) || !finite(o.High) || !(o.High > o.Low):
		return fmt.Errorf("objects: found low %g and high %g, expected finite numbers with high above low", o.Low, o.High)
	case c.Latent > MaxLatent-2:
		return fmt.Errorf("latent: found %d, expected at most %d in addition to an object's position", c.Latent, MaxLatent-2)
	case c.Clock > 0:
		return fmt.Errorf("clock_s: found %g, expected 0 for a model of objects, because objects may appear at any time", c.Clock)
	}
	return nil
}
