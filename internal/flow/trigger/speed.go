package trigger

import (
	"errors"
	"fmt"
	"math"
	"time"

	"driftscope/internal/flow/latent"
)

const (
	marginPart  = 0.1 // the condition ends when the speed is below the threshold by this fraction
	defaultOver = 200 * time.Millisecond
	minOver     = time.Millisecond
	maxOver     = time.Minute
	maxSpeed    = 1e12
)

// speedOptions are the keys of a rule about a speed. Exactly one of Drift, Px and UM is set.
type speedOptions struct {
	ruleOptions
	Drift  *float64      `yaml:"drift"`         // threshold of ‖μ‖, latent/s
	Px     *float64      `yaml:"centroid_px_s"` // threshold of the centroid's speed, px/s
	UM     *float64      `yaml:"centroid_um_s"` // the same, µm/s
	Over   time.Duration `yaml:"over"`          // averaging time of the centroid's speed
	Margin *float64      `yaml:"margin"`        // distance below the threshold at which the condition ends, in its unit
}

// newSpeed makes a rule about one of two speeds. A diffusing path has no velocity: Δz/Δt grows without bound as Δt falls. It has the drift μ of dz = μ dt + σ
// dW, and a mean velocity over a given time.
func newSpeed(decode func(any) error, env Env) (*Rule, error) {
	o := speedOptions{ruleOptions: promptly, Over: defaultOver}
	if err := decode(&o); err != nil {
		return nil, err
	}
	above, unit, err := o.threshold()
	if err != nil {
		return nil, err
	}
	margin := marginPart * above
	if o.Margin != nil {
		if margin = *o.Margin; !(margin >= 0 && margin < above) {
			return nil, fmt.Errorf("margin: found %g, expected 0 to less than the threshold, %g %s", margin, above, unit)
		}
	}
	if o.Over < minOver || o.Over > maxOver {
		return nil, fmt.Errorf("over: found %v, expected %v to %v", o.Over, minOver, maxOver)
	}
	s := &speed{above: above, margin: margin}
	switch {
	case o.Drift != nil:
		s.of = drift{}
	case o.UM != nil && env.PixelUM == 0:
		return nil, errors.New("centroid_um_s: the size of a pixel is unknown: set online.pixel_um, or use centroid_px_s")
	case o.UM != nil:
		s.of = newPath(o.Over, env.PixelUM)
	default:
		s.of = newPath(o.Over, 1)
	}
	return &Rule{options: o.ruleOptions, condition: s, unit: unit, threshold: above}, nil
}

// threshold returns the configured threshold with its unit.
func (o *speedOptions) threshold() (above float64, unit string, err error) {
	given := 0
	for _, t := range []struct {
		key, unit string
		value     *float64
	}{{"drift", "latent/s", o.Drift}, {"centroid_px_s", "px/s", o.Px}, {"centroid_um_s", "µm/s", o.UM}} {
		if t.value == nil {
			continue
		}
		given++
		if above, unit = *t.value, t.unit; !(above > 0 && above <= maxSpeed) {
			return 0, "", fmt.Errorf("%s: found %g, expected more than 0 and at most %g %s", t.key, above, float64(maxSpeed), unit)
		}
	}
	if given != 1 {
		return 0, "", fmt.Errorf("found %d of drift, centroid_px_s and centroid_um_s: give exactly one", given)
	}
	return above, unit, nil
}

// speed is the condition that a speed exceeds a threshold.
type speed struct {
	of interface {
		speed(e *latent.Estimate) (v float64, known bool)
	}
	above, margin float64
}

func (s *speed) ask(e *latent.Estimate) (answer, bool) {
	v, known := s.of.speed(e)
	return answer{v, v > s.above, v > s.above-s.margin}, known && !math.IsNaN(v) && !lost(e)
}

// drift is ‖μ(z)‖ over all dimensions except the inactive ones, latent/s. The drift of an inactive dimension is noise.
type drift struct{}

func (drift) speed(e *latent.Estimate) (v float64, known bool) {
	square := 0.0
	for i, mu := range e.Drift {
		if i < len(e.SDE.Activity) && e.SDE.Activity[i] == latent.Inactive {
			continue
		}
		square += mu * mu
	}
	return math.Sqrt(square), len(e.Drift) > 0
}
