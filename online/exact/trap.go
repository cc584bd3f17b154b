package exact

import "math"

const (
	mostTrapped = 200_000 // places that a trap is fitted to
	turning     = 6.0     // nats of three more parameters from which on springs that differ and a rotation are told
)

// fitTrap is the trap that all series share. Without intervals it is of a quarter of the work.
func fitTrap(all []series, exposure, dims float64, intervals bool) Trap {
	at, unit := scaled(all, dims)
	x, value, free := fitIsotropic(at, exposure, dims)
	count := 0
	for _, s := range at {
		count += len(s.at) - 1
	}
	logUnit := float64(count) * dims * math.Log(unit)
	t := Trap{Nats: -value - logUnit, Gain: free - value, Ratio: Interval{1, 1, 1}}
	f, entry := likeAll(at, exposure, dims), [3]int{0, 1, 2}
	if dims == 2 && t.Gain > 0 {
		field := likeField(at, exposure)
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
			// rotation itself is a parameter
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
	told := t.tell(f, x, value, entry, unit, intervals)
	if len(x) == entries {
		t.tellTurns(f, x, value, told, intervals)
	}
	return t
}

// tell fills in D, rate and noise, and returns the standard deviations.
func (t *Trap) tell(f func([]float64) float64, x []float64, value float64, entry [3]int, unit float64, intervals bool) []float64 {
	sd := make([]float64, len(x))
	if intervals {
		sd = curvature(f, x, 1e-3, 0.5)
	}
	units := [3]float64{unit * unit, 1, unit}
	floors := [3]float64{-40, slowest, quietest}
	for k, to := range [3]*Interval{&t.D, &t.Rate, &t.Noise} {
		i := entry[k]
		*to = Interval{math.Exp(x[i]) * units[k], 0, math.Inf(1)}
		if intervals {
			ends := profile(f, x, value, i, sd[i], floors[k], 20)
			to.Low, to.High = math.Exp(ends[0])*units[k], math.Exp(ends[1])*units[k]
		}
	}
	return sd
}

// tellTurns fills in the ratio and the rotation.
func (t *Trap) tellTurns(f func([]float64) float64, x []float64, value float64, sd []float64, intervals bool) {
	t.Ratio, t.Rotation = Interval{Value: math.Exp(x[atRatio])}, Interval{Value: x[atTurn]}
	if !intervals {
		return
	}
	ends := profile(f, x, value, atRatio, sd[atRatio], -20, 20)
	t.Ratio.Low, t.Ratio.High = math.Exp(max(ends[0], 0)), math.Exp(ends[1])
	ends = profile(f, x, value, atTurn, sd[atTurn], -1e3, 1e3)
	t.Rotation.Low, t.Rotation.High = ends[0], ends[1]
}
