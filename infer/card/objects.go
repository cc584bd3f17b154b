package card

import (
	"fmt"
	"math"
)

// Bounds on what is cut out around an object. The width of a template is bounded as the locator has it.
const (
	MaxObjectSide  = 32 // px of Input: the encoder runs once an object
	MaxObjectScale = 64 // px of the frame a px of Input
	minTemplate    = 0.5
	maxTemplate    = 32
)

// Objects says how Input is cut out around each object: its place in the middle, less the grey level around it.
type Objects struct {
	Template float64 `json:"template_px" yaml:"template_px"` // sd of an object's light, px of the frame
	Dark     bool    `json:"dark,omitempty" yaml:"dark,omitempty"`
	Scale    float64 `json:"scale" yaml:"scale"` // px of the frame a px of Input
	Low      float64 `json:"low" yaml:"low"`     // grey levels above what is around the object that become 0 in Input
	High     float64 `json:"high" yaml:"high"`   // the same, 1
}

// validate checks o against the card that it is part of.
func (o *Objects) validate(c *Card) error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch in := c.Input; {
	case in.Channels != 1 || in.Height != in.Width || in.Width > MaxObjectSide:
		return fmt.Errorf("input: found %dx%dx%d, expected a grey square of at most %d a side around an object", in.Channels, in.Height, in.Width, MaxObjectSide)
	case !(o.Template >= minTemplate && o.Template <= maxTemplate):
		return fmt.Errorf("objects.template_px: found %g, expected %g to %d", o.Template, minTemplate, maxTemplate)
	case !(o.Scale >= 1 && o.Scale <= MaxObjectScale):
		return fmt.Errorf("objects.scale: found %g, expected 1 to %d", o.Scale, MaxObjectScale)
	case !finite(o.Low) || !finite(o.High) || !(o.High > o.Low):
		return fmt.Errorf("objects: found low %g and high %g, expected finite numbers, the second larger", o.Low, o.High)
	case c.Clock > 0:
		return fmt.Errorf("clock_s: found %g beside objects, which begin at any time: expected 0", c.Clock)
	}
	return nil
}
