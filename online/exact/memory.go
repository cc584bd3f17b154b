package exact

import "math"

// A process with stationary steps is determined by its mean square displacement along an axis after l frames, M(l). Steps that begin at frames a, b and end
// at a', b' have the covariance ½(M(a'-b) + M(a-b') - M(a'-b') - M(a-b)); noise adds its variance to each position.
const (
	memory = 100 // largest number of previous steps that a prediction uses
	window = 4   // largest number of previous steps after a gap
)

// steps holds the displacements between successive positions of series, and the choice of predictor for each.
type steps struct {
	move   [][2]float64
	gap    []int   // frames of each step
	first  []int   // first step of each series, and the end
	order  []int32 // number of previous single-frame steps that predict the step; -1-p means pattern p
	shapes [][]int // patterns: the gaps of at most window previous steps and of the step itself, oldest first
}

// newSteps lists the steps of series.
func newSteps(all []series) *steps {
	s := &steps{}
	known := map[[window + 1]int]int{}
	for i := range all {
		s.first = append(s.first, len(s.move))
		gaps, run, broken := []int(nil), 0, false
		for t := 1; t < len(all[i].at); t++ {
			a, b := all[i].at[t-1], all[i].at[t]
			s.move = append(s.move, [2]float64{b[0] - a[0], b[1] - a[1]})
			g := all[i].gap[t]
			gaps, s.gap = append(gaps, g), append(s.gap, g)
			if g == 1 {
				run++
			} else {
				run, broken = 0, true
			}
			if run > 0 && (!broken || run > window) {
				s.order = append(s.order, int32(min(run-1, memory)))
				continue
			}
			shape := gaps[max(len(gaps)-window-1, 0):]
			var key [window + 1]int
			copy(key[window+1-len(shape):], shape)
			id, ok := known[key]
			if !ok {
				id = len(s.shapes)
				known[key] = id
				s.shapes = append(s.shapes, append([]int(nil), shape...))
			}
			s.order = append(s.order, int32(-1-id))
		}
	}
	s.first = append(s.first, len(s.move))
	return s
}

// predictor predicts a step from the previous steps: coefficients, latest step first, and the remaining variance.
type predictor struct {
	weights  []float64
	variance float64
}

// predictors returns the predictors of orders 0 to most, by the recursion of Levinson and Durbin, for a mean square displacement and a variance of the noise.
func predictors(square func(l int) float64, noise float64, most int) []predictor {
	g := make([]float64, most+2)
	for l := range g {
		g[l] = 0.5 * (square(l+1) + square(max(l-1, 1-l)) - 2*square(l))
	}
	g[0] += 2 * noise
	g[1] -= noise
	out := make([]predictor, most+1)
	out[0].variance = g[0]
	for n := 1; n <= most; n++ {
		before := &out[n-1]
		left := g[n]
		for h, w := range before.weights {
			left -= w * g[n-1-h]
		}
		last := left / before.variance
		w := make([]float64, n)
		for h := range n - 1 {
			w[h] = before.weights[h] - last*before.weights[n-2-h]
		}
		w[n-1] = last
		out[n] = predictor{w, max(before.variance*(1-last*last), 1e-14)}
	}
	return out
}

// shaped returns the predictor of the last step of a pattern of gaps.
func shaped(shape []int, square func(l int) float64, noise float64) predictor {
	n := len(shape)
	ends := make([]int, n+1)
	for i, g := range shape {
		ends[i+1] = ends[i] + g
	}
	at := func(i int) float64 { return square(max(i, -i)) }
	cov := func(i, j int) float64 {
		v := 0.5 * (at(ends[i+1]-ends[j]) + at(ends[i]-ends[j+1]) - at(ends[i+1]-ends[j+1]) - at(ends[i]-ends[j]))
		switch {
		case i == j:
			v += 2 * noise
		case i-j == 1 || j-i == 1:
			v -= noise
		}
		return v
	}
	m := n - 1
	p := predictor{make([]float64, m), cov(m, m)}
	if m == 0 {
		return p
	}
	a := make([]float64, m*m)
	for i := range m {
		for j := range m {
			a[i*m+j] = cov(i, j)
		}
	}
	if inverse := invert(a, m); inverse != nil {
		for i := range m {
			w := 0.0
			for j := range m {
				w += inverse[i*m+j] * cov(j, m)
			}
			p.weights[m-1-i] = w
			p.variance -= w * cov(i, m)
		}
	}
	p.variance = max(p.variance, 1e-14)
	return p
}

// explain computes, for every series, the squared residuals of all axes over their variances, and the log variances of one axis.
func (s *steps) explain(square func(l int) float64, noise float64, squares, logs []float64) {
	most := int32(0)
	for _, o := range s.order {
		most = max(most, o)
	}
	by := predictors(square, noise, int(most))
	shapes := make([]predictor, len(s.shapes))
	for i, shape := range s.shapes {
		shapes[i] = shaped(shape, square, noise)
	}
	for i := range len(s.first) - 1 {
		sum, log, product := 0.0, 0.0, 1.0
		for t := s.first[i]; t < s.first[i+1]; t++ {
			var p *predictor
			if o := s.order[t]; o >= 0 {
				p = &by[o]
			} else {
				p = &shapes[-1-o]
			}
			x, y := s.move[t][0], s.move[t][1]
			back := s.move[t-len(p.weights) : t]
			for h, w := range p.weights {
				b := &back[len(back)-1-h]
				x -= w * b[0]
				y -= w * b[1]
			}
			sum += (x*x + y*y) / p.variance
			if product *= p.variance; product < 1e-200 || product > 1e200 {
				log, product = log+math.Log(product), 1
			}
		}
		squares[i], logs[i] = sum, log+math.Log(product)
	}
}

// fractional returns the mean square displacement of fractional Brownian motion with exponent alpha, normalised to 1 after a frame. Positions are means over
// the exposure e, a fraction of a frame (Backlund, Joyner and Moerner, Physical Review E 91, 062716, 2015).
func fractional(alpha, e float64) func(l int) float64 {
	if e == 0 {
		return func(l int) float64 { return math.Pow(float64(l), alpha) }
	}
	c, a := 1/(e*e*(alpha+1)*(alpha+2)), alpha+2
	return func(l int) float64 {
		if l == 0 {
			return 0
		}
		t := float64(l)
		return c * (math.Pow(t+e, a) + math.Pow(t-e, a) - 2*math.Pow(t, a) - 2*math.Pow(e, a))
	}
}

// lagging returns the mean square displacement if each step contains a fraction theta of the previous step, as in a film that smears motion: γ(l) = θ^l
// (1-θ)/(1+θ), normalised to 1 per frame in the long run.
func lagging(theta, e float64) func(l int) float64 {
	return func(l int) float64 {
		if l == 0 {
			return 0
		}
		n := float64(l)
		return n - 2*theta*(1-math.Pow(theta, n))/(1-theta*theta) - (1-theta)*e/3
	}
}
