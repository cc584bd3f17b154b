package states

import "math"

// Pictures may show objects late: compressed films do, and cameras that average over frames. A step then follows the next but one as well, which no state, noise
// or exposure of a frame makes: their covariance ends with the next. D is then told by longer steps, from every second, third or fourth place of a track.

const (
	mostLag = 4   // frames of a step at most
	late    = 6.9 // nats, odds of a thousand to one against a film that lags: one that does not keeps all that its steps tell
)

// lagOf is of how many frames steps are taken: the fewest of which a step does not follow the next but one. Where they follow at any length, objects move on, and
// the film does not lag.
func lagOf(segments []Segment) int {
	for lag := 1; lag <= mostLag; lag++ {
		if !follows(segments, lag) {
			return lag
		}
	}
	return 1
}

// exposed is the exposure by which steps are read. Long ones still follow the next where the film lags, by as much as D has them, as if a place were a mean over up
// to the whole step; the noise takes back what is too much.
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

// follows says whether steps of so many frames follow the next but one. The sum of their products, v of each track in units of its mean square step, has a score
// test: (Σ v)²/Σ v² is χ² where they do not, and at most the number of tracks.
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

// long is the step over so many, from one of them on.
func (s *Segment) long(from, lag int) (long Step) {
	for _, step := range s.Steps[from : from+lag] {
		long = Step{long.X + step.X, long.Y + step.Y, long.DT + step.DT}
	}
	return long
}

// every is the segment by every lag-th of its places. One that is too short for a step counts for nothing.
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

// every is all segments by every lag-th of their places, from each of their first ones on. The parts of one have its weight together.
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
