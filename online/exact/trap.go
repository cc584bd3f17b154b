package exact

import "math"

const (
	mostTrapped = 200_000 // largest number of positions for the fit of a trap
	turning     = 6.0     // gain at which unequal springs and a rotation, three more parameters, are reported, nats
)

// fitTrap fits one trap to all series. Without intervals it takes a quarter of the time.
func fitTrap(all []series, by look, intervals bool) Trap {
	at, unit := scaled(all, by.dims)
	x, value, free := fitIsotropic(at, by)
	count := 0
	for _, s := range at {
		count += len(s.at) - 1
	}
	logUnit := float64(count) * by.dims * math.Log(unit)
	t := Trap{Nats: -value - logUnit, Gain: free - value, Ratio: Interval{1, 1, 1}}
	f, entry := likeAll(at, by), [3]int{0, 1, 2}
	if by.dims == 2 && t.Gain > 0 {
		field := likeField(at, by.exposure)
		best, turned := math.Inf(1), []float64(nil)
		x[2] = max(x[2], -2.5)
		for _, start := range [][]float64{moments(at, x), {x[0], x[1], 0.3, 0.3, 0.1, -2}} {
			if v := descend(field, start, []int{0, 1, 2, 3, 4, 5}, 80); v < best-1e-3 {
				best, turned = v, start
			}
		}
		if t.Turns = value - best; t.Turns > turning {
			if turned[atRatio] < 0 {
				turned[atRatio], turned[atAngle] = -turned[atRatio], turned[atAngle]+math.Pi/2
			}
			// make the rotation itself the parameter
			turned[atTurn] *= math.Exp(turned[atRate])
			f = func(y []float64) float64 {
				z := append([]float64(nil), y...)
				z[atTurn] = y[atTurn] / math.Exp(y[atRate])
				return field(z)
			}
			x, value, entry = turned, best, [3]int{atD, atRate, atNoise}
			t.Nats, t.Gain = -best-logUnit, free-best
		}
	}
	x[entry[2]] = max(x[entry[2]], quietest+1)
	best := &fitted{f: f, x: x, value: value, unit: unit, intervals: intervals}
	t.tell(best, entry)
	if len(x) == entries {
		t.tellTurns(best)
	}
	return t
}

// fitted is a maximum of a likelihood.
type fitted struct {
	f         func([]float64) float64
	x         []float64
	value     float64
	sd        []float64 // standard errors, from the curvature
	unit      float64   // unit of lengths
	intervals bool
}

// tell fills in D, rate and noise. entry lists their indices in at.x.
func (t *Trap) tell(at *fitted, entry [3]int) {
	if at.intervals {
		at.sd = curvature(at.f, at.x, 1e-3, 0.5)
	}
	units := [3]float64{at.unit * at.unit, 1, at.unit}
	floors := [3]float64{-40, slowest, quietest}
	for k, to := range [3]*Interval{&t.D, &t.Rate, &t.Noise} {
		i := entry[k]
		*to = Interval{math.Exp(at.x[i]) * units[k], 0, math.Inf(1)}
		if at.intervals {
			ends := at.profile(i, floors[k], 20)
			to.Low, to.High = math.Exp(ends[0])*units[k], math.Exp(ends[1])*units[k]
		}
	}
}

// tellTurns fills in the ratio and the rotation.
func (t *Trap) tellTurns(at *fitted) {
	t.Ratio, t.Rotation = Interval{Value: math.Exp(at.x[atRatio])}, Interval{Value: at.x[atTurn]}
	if !at.intervals {
		return
	}
	ends := at.profile(atRatio, -20, 20)
	t.Ratio.Low, t.Ratio.High = math.Exp(max(ends[0], 0)), math.Exp(ends[1])
	ends = at.profile(atTurn, -1e3, 1e3)
	t.Rotation.Low, t.Rotation.High = ends[0], ends[1]
}

// FitTrap fits one trap to all tracks, without a comparison with other laws. It returns false if the tracks have no information.
func FitTrap(tracks []Track, exposure float64) (Trap, bool) {
	usable, _ := inspect(tracks)
	d := dimensions(usable)
	if d == 0 {
		return Trap{}, false
	}
	var all []series
	for _, t := range tracks {
		if len(t) > 1 {
			all = append(all, newSeries(t, usable))
		}
	}
	return fitTrap(all, look{exposure: exposure, dims: d}, true), true
}
