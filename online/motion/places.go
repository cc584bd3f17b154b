package motion

import (
	"math"
	"slices"
)

// Place is a localisation: px, s, and its variance along an axis, px², 0 if unknown.
type Place struct{ X, Y, T, Var float64 }

const (
	// mostPlaces bounds the places for a verdict, the last ones of a track. This bounds the time of a verdict, and the longest training tracks of the
	// net have 1000 places.
	mostPlaces = 1000
	// mostMissing bounds the frames that one gap counts on the lattice: more than the memory of the filters.
	mostMissing = 64
)

// series is a track in the form that the likelihoods use.
type series struct {
	x, y  []float64 // px, relative to the first place
	dt    []float64 // s, of the step to a place; the first is 0
	weigh []float64 // the variance of a place over the mean variance; 1 if not given
	step  float64   // s between frames: the median of dt
	noise float64   // mean given variance, px²; 0 if any is missing
	frame []int     // the frame of a place, in steps from the first
	gaps  bool      // some frames have no place
	sort  []float64
}

// read takes the last places of a track. It drops places whose time does not increase. It returns false if fewer than two remain.
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

// lattice counts frames: a step of about k median steps spans k frames.
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

func (s *series) steps() int { return len(s.x) - 1 }
