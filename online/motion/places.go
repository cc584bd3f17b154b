package motion

import (
	"math"
	"slices"
)

// Place is where an object was seen: px, s, and the variance of the localisation along an axis, px², 0 where it is not known.
type Place struct{ X, Y, T, Var float64 }

const (
	// mostPlaces is how many places a track is judged by, its last ones: the time of a verdict is bounded, and 1000 are the longest tracks
	// that the net of this package was trained on.
	mostPlaces = 1000
	// mostMissing is how many frames in a row a gap counts at most on the lattice: beyond the longest memory of the filters and lags that are read.
	mostMissing = 64
)

// series is a track as the likelihoods read it.
type series struct {
	x, y  []float64 // px, less the first place
	dt    []float64 // s, of the step that leads to a place; the first is 0
	weigh []float64 // the variance of a place over the mean variance; 1 where none is given
	step  float64   // s between frames: the median of dt
	noise float64   // the mean variance given, px²; 0 where one is missing
	frame []int     // the frame of a place, in steps from the first
	gaps  bool      // some frames between have no place
	sort  []float64
}

// read takes in the last places of a track whose times increase; others are left out. It tells whether two are left.
func (s *series) read(places []Place) bool {
	s.x, s.y, s.dt, s.weigh, s.frame = s.x[:0], s.y[:0], s.dt[:0], s.weigh[:0], s.frame[:0]
	places = places[max(0, len(places)-mostPlaces):]
	var from Place
	known := true
	s.noise = 0
	for _, p := range places {
		if sum := p.X + p.Y + p.T; math.IsNaN(sum) || math.IsInf(sum, 0) || len(s.x) > 0 && p.T <= from.T {
			continue
		}
		if len(s.x) == 0 {
			s.x, s.y, s.dt = append(s.x, 0), append(s.y, 0), append(s.dt, 0)
			from = p
		} else {
			n := len(s.x) - 1
			s.x, s.y = append(s.x, s.x[n]+p.X-from.X), append(s.y, s.y[n]+p.Y-from.Y)
			s.dt = append(s.dt, p.T-from.T)
			from = p
		}
		s.weigh = append(s.weigh, p.Var)
		s.noise += p.Var
		known = known && p.Var > 0
	}
	if len(s.x) < 2 {
		return false
	}
	s.noise /= float64(len(s.x))
	for i := range s.weigh {
		s.weigh[i] /= s.noise
		if !known {
			s.weigh[i] = 1
		}
	}
	if !known {
		s.noise = 0
	}
	s.lattice()
	return true
}

// lattice counts frames: a step of about k medians is one of k frames.
func (s *series) lattice() {
	s.sort = append(s.sort[:0], s.dt[1:]...)
	slices.Sort(s.sort)
	s.step = s.sort[len(s.sort)/2]
	s.frame, s.gaps = append(s.frame, 0), false
	for i := 1; i < len(s.dt); i++ {
		k := int(min(max(math.Round(s.dt[i]/s.step), 1), mostMissing))
		s.gaps = s.gaps || k > 1
		s.frame = append(s.frame, s.frame[i-1]+k)
	}
}

// steps is how many increments there are.
func (s *series) steps() int { return len(s.x) - 1 }
