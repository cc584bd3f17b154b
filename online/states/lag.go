package states

import "math"

// Compressed films, and cameras that average over frames, smear objects over frames. Then a step also correlates with the next step but one. No state, noise
// or exposure explains this correlation, because their covariance ends with the next step. In such a film D uses longer steps, between every second, third or
// fourth position of a track.

const (
	mostLag = 4   // largest number of frames per step
	late    = 6.9 // nats: prior odds of a thousand to one against a lag, so a film without lag keeps all information of its steps
)

// lagOf returns the smallest number of frames per step without correlation between a step and the next but one. If steps of every length correlate, the
// motion is directed and the film does not lag: lagOf returns 1.
func lagOf(segments []Segment) int {
	for lag := 1; lag <= mostLag; lag++ {
		if !follows(segments, lag) {
			return lag
		}
	}
	return 1
}

// exposed returns the exposure that the likelihood of the steps uses. In a film with lag, successive long steps still correlate in proportion to D, as if a
// position were a mean over up to the whole step. The fitted noise corrects any excess.
func (o *Options) exposed(segments []Segment) float64 {
	frame := math.Inf(1)
	for i := range segments {
		for _, s := range segments[i].Steps {
			frame = min(frame, s.DT)
		}
	}
	if o.Lag <= 1 || math.IsInf(frame, 1) {
		return o.Exposure
	}
	return max(o.Exposure, float64(o.Lag)*frame)
}

// follows reports whether steps of lag frames correlate with the next but one. The score v of a track is the sum of the products of such steps, in units of
// the track's mean square step. (Σ v)²/Σ v² is χ² without correlation, and at most the number of tracks.
func follows(segments []Segment, lag int) bool {
	var sum, square, tracks float64
	for i := range segments {
		s := &segments[i]
		var products, squares, n float64
		for from := 0; from+lag <= len(s.Steps); from++ {
			a := s.long(from, lag)
			squares, n = squares+a.X*a.X+a.Y*a.Y, n+1
			if from+3*lag <= len(s.Steps) {
				b := s.long(from+2*lag, lag)
				products += a.X*b.X + a.Y*b.Y
			}
		}
		if squares > 0 {
			v := s.Weight * products * n / squares
			sum, square, tracks = sum+v, square+v*v, tracks+s.Weight
		}
	}
	return sum > 0 && sum*sum/2 > square*(late+math.Log(max(tracks, 2))/2)
}

// long returns the sum of lag steps, starting at from.
func (s *Segment) long(from, lag int) (long Step) {
	for _, step := range s.Steps[from : from+lag] {
		long = Step{long.X + step.X, long.Y + step.Y, long.DT + step.DT}
	}
	return long
}

// every returns the segment with every lag-th position. A segment shorter than one such step gets weight zero.
func (s *Segment) every(lag int) Segment {
	if lag <= 1 {
		return *s
	}
	out := Segment{Weight: s.Weight}
	for from := 0; from+lag <= len(s.Steps); from += lag {
		out.Steps = append(out.Steps, s.long(from, lag))
	}
	if s.Scale != nil {
		for n := 0; n <= len(s.Steps); n += lag {
			out.Scale = append(out.Scale, s.Scale[n])
		}
	}
	if len(out.Steps) == 0 {
		out.Weight = 0
	}
	return out
}

// every returns the segments with every lag-th position, one for each possible first position. The parts of a segment share its weight.
func every(segments []Segment, lag int) (out []Segment) {
	if lag <= 1 {
		return segments
	}
	for _, s := range segments {
		parts := min(lag, len(s.Steps)-lag+1)
		for from := range max(parts, 0) {
			part := s
			if part.Steps, part.Weight = s.Steps[from:], s.Weight/float64(parts); s.Scale != nil {
				part.Scale = s.Scale[from:]
			}
			out = append(out, part.every(lag))
		}
	}
	return out
}
