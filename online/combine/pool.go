package combine

import (
	"math"
)

// Law is the law of an experiment.
type Law struct {
	Cameras       int
	Tracks, Steps uint64
	D             Interval // mean over the objects' time, µm²/s; zero if no camera has one
	States        []State  // by ascending D
	Seen          []int    // number of cameras that see each state
	Spread        Interval // sd of ln D within a state; zero if no camera gives one
	Differ        float64  // sd of ln D between cameras; 0 if not evident
	Rates         []float64
	Nats          float64
}

// Pool combines the laws of at most MostCameras cameras, which must have passed Check.
func Pool(cameras []Camera) *Law {
	kinds, b := match(cameras)
	l := &Law{Cameras: len(cameras), Differ: b.differ()}
	weights, all := make([]float64, len(cameras)), 0.0
	for i := range cameras {
		c := &cameras[i]
		l.Tracks, l.Steps = l.Tracks+c.Tracks, l.Steps+c.Steps
		weights[i] = float64(c.Steps)
		all += weights[i]
	}
	for i := range weights {
		weights[i] /= all
	}
	for _, k := range kinds {
		l.States = append(l.States, State{common(k.readings, b), share(k, cameras, weights)})
		l.Seen = append(l.Seen, len(k.members))
	}
	l.D = meanD(cameras)
	l.Spread = spread(cameras, weights)
	l.Rates, l.Nats = rates(kinds, cameras)
	return l
}

// meanD returns the mean D of all cameras. The mean D may also differ by the cameras' objects, so it has its own τ.
func meanD(cameras []Camera) Interval {
	var readings []reading
	for i := range cameras {
		if c := &cameras[i]; c.D.Value > 0 && c.D.High > 0 {
			readings = append(readings, logarithm(c.D, float64(c.Steps)))
		}
	}
	if len(readings) == 0 {
		return Interval{}
	}
	b := newBetween(differD)
	b.learn(newKind(nil, readings, b.tau).likely)
	return common(readings, b)
}

// share returns a state's fraction of the objects' time, weighted by steps. Its interval includes the errors of the cameras that see the state, and their
// differences.
func share(k *kind, cameras []Camera, weights []float64) Interval {
	value := 0.0
	var readings []reading
	var slopes []float64 // derivative of the share by each logit
	for _, m := range k.members {
		s := cameras[m.camera].States[m.state].Share
		value += weights[m.camera] * s.Value
		if s.Value > 0 && s.Value < 1 {
			readings = append(readings, odds(s, float64(cameras[m.camera].Tracks)))
			slopes = append(slopes, weights[m.camera]*s.Value*(1-s.Value))
		}
	}
	if len(readings) == 0 || value <= 0 || value >= 1 {
		return Interval{value, value, value}
	}
	b := newBetween(differShare)
	if len(readings) > 1 {
		b.learn(newKind(nil, readings, b.tau).likely)
	} else {
		b.tau, b.weight = b.tau[:1], b.weight[:1] // use only the camera's own error
	}
	at := logit(value)
	var mixture []normal
	for i, p := range b.chosen() {
		variance := 0.0
		for j, r := range readings {
			variance += slopes[j] * slopes[j] * (r.sd*r.sd + b.tau[i]*b.tau[i])
		}
		mixture = append(mixture, normal{p, at, math.Sqrt(variance) / (value * (1 - value))})
	}
	v := interval(mixture)
	return Interval{value, logistic(v.Low), logistic(v.High)}
}

// odds returns the reading of a share, from the known ends of its interval. Its error is at least the error of a count of the given number of tracks.
func odds(s Interval, tracks float64) reading {
	r := reading{at: logit(s.Value)}
	least := 1 / math.Sqrt(max(tracks, 1)*s.Value*(1-s.Value))
	switch {
	case s.Low > 0 && s.High < 1:
		r.sd = (logit(s.High) - logit(s.Low)) / (2 * normal95)
	case s.High < 1:
		r.sd = (logit(s.High) - r.at) / normal95
	case s.Low > 0:
		r.sd = (r.at - logit(s.Low)) / normal95
	}
	r.sd = max(r.sd, least)
	return r
}

func logit(p float64) float64    { return math.Log(p / (1 - p)) }
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// spread returns the spread of ln D within a state, weighted by steps. A camera without a spread counts as zero.
func spread(cameras []Camera, weights []float64) (v Interval) {
	variance := 0.0
	for i := range cameras {
		s := cameras[i].Spread
		v.Value += weights[i] * s.Value
		sd := weights[i] * (s.High - s.Low) / (2 * normal95)
		variance += sd * sd
	}
	if v.Value == 0 {
		return Interval{}
	}
	half := normal95 * math.Sqrt(variance)
	v.Low, v.High = max(v.Value-half, 0), v.Value+half
	return v
}

// rates returns the rates of switching, weighted by the steps in the state that objects leave, and the summed evidence. It returns none unless every camera
// sees every state and has rates.
func rates(kinds []*kind, cameras []Camera) (rates []float64, nats float64) {
	n := len(kinds)
	if n < 2 {
		return nil, 0
	}
	for i := range cameras {
		if len(cameras[i].Rates) != n*n {
			return nil, 0
		}
		nats += cameras[i].Nats
	}
	for _, k := range kinds {
		if len(k.members) != len(cameras) {
			return nil, 0
		}
	}
	rates = make([]float64, n*n)
	for a, from := range kinds {
		time := make([]float64, len(cameras))
		all := 0.0
		for _, m := range from.members {
			c := &cameras[m.camera]
			time[m.camera] = float64(c.Steps) * c.States[m.state].Share.Value
			all += time[m.camera]
		}
		for to, k := range kinds {
			if to == a || all == 0 {
				continue
			}
			for _, m := range k.members {
				rates[a*n+to] += time[m.camera] / all * cameras[m.camera].Rates[stateOf(from, m.camera)*n+m.state]
			}
		}
	}
	return rates, nats
}

// stateOf returns the index of a kind among the states of a camera.
func stateOf(k *kind, camera int) int {
	for _, m := range k.members {
		if m.camera == camera {
			return m.state
		}
	}
	return -1
}
