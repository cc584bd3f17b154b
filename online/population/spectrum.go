package population

import "math"

// The bins of a Spectrum: narrower ones show chance, for of ten steps D is known to a third.
const (
	Bins       = 32
	perDecade  = 4
	lowest     = 1e-4 // px²/s, the lower edge of the first bin, which has all below it too
	leastSteps = 4    // of a track that counts
)

// Spectrum is how much of their time objects spend at which D: the steps of every track stand in the bin of its D. The zero value is empty.
type Spectrum struct{ steps [Bins]float64 }

// Add takes in a track.
func (s *Spectrum) Add(l *Law) {
	if l.sums.steps >= leastSteps && l.sums.pairs > 0 {
		s.steps[binOf(l.D())] += l.sums.steps
	}
}

func binOf(d float64) int {
	if !(d > lowest) {
		return 0
	}
	return min(int(perDecade*math.Log10(d/lowest)), Bins-1)
}

// Shares writes each bin's share of the steps to dst; all are zero where there are none.
func (s *Spectrum) Shares(dst []float64) {
	total := 0.0
	for _, v := range s.steps {
		total += v
	}
	for i := range dst {
		dst[i] = 0
		if total > 0 {
			dst[i] = s.steps[i] / total
		}
	}
}

// Edges are the bins' lower edges, px²/s.
func Edges() []float64 {
	edges := make([]float64, Bins)
	for i := range edges {
		edges[i] = lowest * math.Pow(10, float64(i)/perDecade)
	}
	return edges
}
