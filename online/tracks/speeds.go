package tracks

import "math"

// The speed law of running objects has bins of width binned, px/frame.
const (
	bins   = 40
	binned = 0.5
)

// speeds is the speed law, learnt from running objects.
type speeds struct {
	prior   [bins]float64 // initial counts
	count   [bins]float64 // observed counts, with forgetting
	ring    [bins]float64 // density of a step whose length lies in the bin, for any heading, px⁻²
	square  float64       // mean square of a speed per axis, px²
	fastest float64       // speed that one in a thousand exceeds, px/frame
}

// newSpeeds returns the prior law: few slow and few fast objects, scaled by the width of the template.
func newSpeeds(template float64) (s speeds) {
	sum := 0.0
	for i := range s.prior {
		r := (float64(i) + 0.5) * binned / (0.7 * template)
		s.prior[i] = r * r * math.Exp(-r)
		sum += s.prior[i]
	}
	for i := range s.prior {
		s.prior[i] *= priorSpeeds / sum
	}
	s.settle()
	return s
}

// add counts a speed, px/frame, spread over its bin and the two neighbours.
func (s *speeds) add(v, weight float64) {
	i := min(int(v/binned), bins-1)
	s.count[i] += 0.6 * weight
	s.count[max(i-1, 0)] += 0.2 * weight
	s.count[min(i+1, bins-1)] += 0.2 * weight
}

// settle computes the densities from the counts.
func (s *speeds) settle() {
	sum := 0.0
	for i, n := range s.count {
		sum += s.prior[i] + n
	}
	beyond := sum
	s.square, s.fastest = 0, binned
	for i, n := range s.count {
		n += s.prior[i]
		r := (float64(i) + 0.5) * binned
		p := n / sum
		s.ring[i] = p / (2 * math.Pi * r * binned)
		s.square += p * r * r / 2
		if beyond > 1e-3*sum {
			s.fastest = r + binned/2
		}
		beyond -= n
	}
}

// density returns the likelihood of a step with the given squared length from a position with the given variance per axis, px⁻².
func (s *speeds) density(square, variance float64) float64 {
	if variance > 0.25*s.square { // the position is too uncertain for the histogram
		n := s.square + variance
		return math.Exp(-square/(2*n)) / (2 * math.Pi * n)
	}
	u := math.Sqrt(square)/binned - 0.5
	if u <= 0 {
		return s.ring[0]
	}
	i := int(u)
	if i >= bins-1 {
		return 1e-12
	}
	return s.ring[i] + (u-float64(i))*(s.ring[i+1]-s.ring[i])
}

// fade forgets a little per frame.
func (s *speeds) fade() {
	for i := range s.count {
		s.count[i] *= forget
	}
}
