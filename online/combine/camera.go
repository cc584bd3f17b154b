package combine

import (
	"fmt"
	"math"
)

// Bounds on the input. A camera's law has at most six states, and MostCameras cameras with six states each take a second.
const (
	MostStates  = 16
	MostCameras = 32
)

// Interval is a number with its 95 % interval.
type Interval struct{ Value, Low, High float64 }

// State is one state of the objects.
type State struct {
	D     Interval // µm²/s; Low is 0 if only an upper bound is known
	Share Interval // fraction of the objects' time
}

// Camera is the law found by one camera.
type Camera struct {
	Name          string
	Tracks, Steps uint64
	D             Interval  // mean over the objects' time, µm²/s; zero if unknown
	States        []State   // by ascending D
	Spread        Interval  // sd of ln D within a state; zero if not given
	Rates         []float64 // from each state to each other, 1/s, one row per state; empty if unknown
	Nats          float64   // evidence that objects switch
}

// tolerance is the allowed error of the sum of shares, which are printed rounded.
const tolerance = 0.01

// most is the upper bound of the steps of a camera, of every D and of every rate, so sums and squares stay finite.
const most = 1e15

// Check returns an error for an impossible law.
func (c *Camera) Check() error {
	k := len(c.States)
	if k == 0 || k > MostStates || c.Steps == 0 || max(c.Steps, c.Tracks) > most {
		return fmt.Errorf("a law of %d states, %d steps and %d tracks, expected 1 to %d states and 1 to %d steps", k, c.Steps, c.Tracks, MostStates, uint64(most))
	}
	all := 0.0
	for j := range c.States {
		s := &c.States[j]
		if err := s.D.within("D", most); err != nil || s.D.Value == 0 || s.D.Value == s.D.Low && s.D.Low == s.D.High {
			return fmt.Errorf("state %d: D %g (%g to %g) µm²/s, expected a number above 0 within its interval", j+1, s.D.Value, s.D.Low, s.D.High)
		}
		if err := s.Share.within("share", 1); err != nil {
			return fmt.Errorf("state %d: %w", j+1, err)
		}
		all += s.Share.Value
	}
	if math.Abs(all-1) > tolerance {
		return fmt.Errorf("shares that add up to %g, expected 1", all)
	}
	if err := c.D.within("mean D", most); err != nil {
		return err
	}
	if err := c.Spread.within("spread", most); err != nil {
		return err
	}
	if len(c.Rates) != 0 && len(c.Rates) != k*k {
		return fmt.Errorf("%d rates of %d states, expected one from each state to each", len(c.Rates), k)
	}
	for i, r := range c.Rates {
		if i%(k+1) != 0 && !(r >= 0 && r <= most) {
			return fmt.Errorf("a rate of %g/s, expected 0 or more", r)
		}
	}
	if math.IsNaN(c.Nats) || math.IsInf(c.Nats, 0) {
		return fmt.Errorf("evidence of %g nats, expected a number", c.Nats)
	}
	return nil
}

// within checks 0 ≤ low ≤ value ≤ high ≤ most.
func (i Interval) within(what string, most float64) error {
	if !(0 <= i.Low && i.Low <= i.Value && i.Value <= i.High && i.High <= most) {
		return fmt.Errorf("%s %g (%g to %g), expected a number within its interval", what, i.Value, i.Low, i.High)
	}
	return nil
}

// normal95 is the 97.5 % point of a normal law.
const normal95 = 1.959963984540054

// reading is a camera's measurement of one number, as its logarithm or its logit.
type reading struct {
	at, sd float64
	bound  bool    // only an upper bound is known
	value  float64 // the number itself
	error  float64
}

// logarithm returns the reading of a D from the given number of steps. Its standard error is at least 1/√steps, the Cramér-Rao bound of steps along two axes
// without noise.
func logarithm(d Interval, steps float64) reading {
	r := reading{at: math.Log(d.Value), value: d.Value, error: max(d.High-d.Value, d.High/1000) / normal95, bound: d.Low == 0}
	r.sd = max((math.Log(d.High)-math.Log(d.Low))/(2*normal95), 1/math.Sqrt(max(steps, 1)))
	if r.bound {
		r.sd = math.Inf(1)
	}
	return r
}
