package states

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// mixture is a population law in which every object is in one of a few states.
type mixture struct {
	d        []float64     // px²/s of each state, ascending
	fraction []float64     // fraction of the tracks in each state
	spread   float64       // sd of ln D within a state, 0 without a spread
	noise    float64       // localisation variance at scale 1 along an axis, px²
	nats     float64       // log likelihood
	table    *table        // likelihoods of a mixture with a spread
	hessian  *mat.SymDense // at the maximum, for a mixture with a spread
}

// fitting holds the data and the memory of a fit.
type fitting struct {
	segments []Segment
	exposure float64
	stray    float64 // ln of the density of a stray step: strays divided by the area of the disc of the longest step
	unit     float64 // px²: a quarter of a mean square step
	noise    float64 // unit of the noise: unit divided by the mean scale
	time     float64 // mean time of a step, s
	least    float64 // lower bound of ln D; slower objects appear at rest
	cores    int
	pause    func()             // may be nil
	tables   map[float64]*table // the latest, by noise
	terms    []float64          // log likelihoods of a mixture without a spread, one row of states per track
	ends     []slope
	parts    []bell    // likelihoods of a mixture with a spread, one row of states per track
	score    []float64 // gradient of one track
	products []float64 // Σ of outer products of score over all tracks
}

// newFitting measures the segments. ok is false if no step moves.
func newFitting(segments []Segment, o Options) (f *fitting, ok bool) {
	var squares, steps, seconds, longest float64
	for i := range segments {
		for _, s := range segments[i].Steps {
			w := segments[i].Weight
			square := s.X*s.X + s.Y*s.Y
			squares, steps, seconds, longest = squares+w*square, steps+w, seconds+w*s.DT, max(longest, square)
		}
	}
	if !(steps > 0 && squares > 0 && seconds > 0) {
		return nil, false
	}
	f = &fitting{segments: segments, exposure: o.Exposure, cores: o.Cores, pause: o.Pause, tables: map[float64]*table{}, unit: squares / steps / (2 * axes), time: seconds / steps}
	f.noise = f.unit / meanScale(segments)
	f.stray = math.Log(strays / (math.Pi * longest))
	f.least = math.Log(f.unit / f.time * slowest)
	return f, true
}

// meanScale returns the mean scale of all positions.
func meanScale(segments []Segment) float64 {
	sum, n := 0.0, 0.0
	for i := range segments {
		for k := range len(segments[i].Steps) + 1 {
			sum, n = sum+segments[i].scale(k), n+1
		}
	}
	if !(sum > 0) {
		return 1
	}
	return sum / n
}

// slowest is the smallest D of a state, relative to the mean D. Its steps are a thousandth of the mean step.
const slowest = 1e-6

// A mixture of K states has 2K coordinates: ln D of each, then stick-breaking logits t of the fractions (f₁ = s(t₁), f₂ = (1-f₁) s(t₂), ..., with the
// logistic function s), then the noise in units of fitting.noise.

// likelihood returns the summit of a mixture of k states.
func (f *fitting) likelihood(k int) summit {
	return func(at, gradient []float64) float64 {
		logs := stick(at[k : 2*k-1])
		f.ask(at, logs, gradient != nil)
		if gradient != nil {
			clear(gradient)
			f.begin(2 * k)
		}
		total := 0.0
		for i := range f.segments {
			s, terms, ends := &f.segments[i], f.terms[i*k:][:k], f.ends[i*k:][:k]
			top := slices.Max(terms)
			sum := 0.0
			for j := range terms {
				terms[j] = math.Exp(terms[j] - top)
				sum += terms[j]
			}
			total += s.Weight * (top + math.Log(sum))
			if gradient == nil {
				continue
			}
			left := 1.0 // remaining probability
			f.score[2*k-1] = 0
			for j := range terms {
				r := terms[j] / sum
				f.score[j] = r * ends[j].d
				f.score[2*k-1] += r * ends[j].noise * f.noise
				if j < k-1 {
					f.score[k+j] = r - left*logistic(at[k+j])
					left -= r
				}
			}
			f.collect(gradient, s.Weight)
		}
		return total
	}
}

// ask computes the log likelihoods of all tracks in k states, plus the logs of the fractions. With slopes, it also computes their derivatives.
func (f *fitting) ask(at, logs []float64, slopes bool) {
	k := len(logs)
	if n := k * len(f.segments); cap(f.terms) < n {
		f.terms, f.ends = make([]float64, n), make([]slope, n)
	}
	laws := make([]law, k)
	for j := range laws {
		laws[j] = law{math.Exp(at[j]), at[2*k-1] * f.noise, f.exposure, f.stray}
	}
	f.each(func(i int) {
		s, terms, ends := &f.segments[i], f.terms[i*k:][:k], f.ends[i*k:][:k]
		for j, l := range laws {
			if slopes {
				terms[j], ends[j] = s.slopes(l)
			} else {
				terms[j] = s.logLikelihood(l)
			}
			terms[j] += logs[j]
		}
	})
}

// begin clears the sums of track gradients for n coordinates.
func (f *fitting) begin(n int) {
	if cap(f.score) < n {
		f.score, f.products = make([]float64, n), make([]float64, n*n)
	}
	f.score, f.products = f.score[:n], f.products[:n*n]
	clear(f.products)
}

// collect adds the gradient of a track, f.score, with its weight.
func (f *fitting) collect(gradient []float64, weight float64) {
	n := len(f.score)
	for i, v := range f.score {
		gradient[i] += weight * v
		for j, u := range f.score[:i+1] {
			f.products[i*n+j] += weight * v * u
		}
	}
}

// outer returns the Hessian from the track gradients, for a climb over n coordinates; nil with fewer than ten tracks per coordinate.
func (f *fitting) outer(n int) func() *mat.SymDense {
	const each = 10
	if len(f.segments) < each*n {
		return nil
	}
	return func() *mat.SymDense {
		h := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				h.SetSym(i, j, -f.products[i*n+j])
			}
		}
		return h
	}
}

func logistic(t float64) float64 { return 1 / (1 + math.Exp(-t)) }

// stick returns the logarithms of the stick-breaking fractions, one more than there are logits.
func stick(logits []float64) []float64 {
	logs, left := make([]float64, len(logits)+1), 0.0
	for j, t := range logits {
		logs[j] = left - math.Log1p(math.Exp(-t))
		left -= math.Log1p(math.Exp(t))
	}
	logs[len(logits)] = left
	return logs
}

// unstick returns the stick-breaking logits of fractions.
func unstick(fractions []float64) []float64 {
	logits, left := make([]float64, len(fractions)-1), 1.0
	for j := range logits {
		p := min(max(fractions[j]/max(left, 1e-12), 1e-6), 1-1e-6)
		logits[j] = math.Log(p / (1 - p))
		left -= fractions[j]
	}
	return logits
}

// coordinates returns the coordinates of a mixture, with its states in the given order. The last coordinate is the spread if the mixture has one, else the
// noise.
func (f *fitting) coordinates(m *mixture, order []int) []float64 {
	var at, fractions []float64
	for _, j := range order {
		at = append(at, math.Log(m.d[j]))
		fractions = append(fractions, m.fraction[j])
	}
	last := m.noise / f.noise
	if m.table != nil {
		last = m.spread
	}
	return append(append(at, unstick(fractions)...), last)
}

// mixtureAt returns the mixture at coordinates, by ascending D.
func (f *fitting) mixtureAt(at []float64) mixture {
	k := len(at) / 2
	logs, order := stick(at[k:2*k-1]), ascending(k)
	slices.SortFunc(order, func(a, b int) int { return compare(at[a], at[b]) })
	m := mixture{noise: at[2*k-1] * f.noise}
	for _, j := range order {
		m.d, m.fraction = append(m.d, math.Exp(at[j])), append(m.fraction, math.Exp(logs[j]))
	}
	return m
}

func compare(a, b float64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// bounds returns the lower bounds of the coordinates of k states.
func (f *fitting) bounds(k int) []float64 {
	least := make([]float64, 2*k)
	for j := range k {
		least[j] = f.least
	}
	for j := k; j < 2*k-1; j++ {
		least[j] = rarest
	}
	return least
}

// climbFrom fits a mixture, starting at m, until a step gains less than rough nats. 0 means full precision.
func (f *fitting) climbFrom(m mixture, rough float64) mixture {
	k := len(m.d)
	c := &climb{of: f.likelihood(k), least: f.bounds(k), rough: rough, outer: f.outer(2 * k)}
	at := f.coordinates(&m, ascending(k))
	nats := c.maximise(at)
	out := f.mixtureAt(at)
	out.nats = nats
	return out
}

func ascending(k int) []int {
	order := make([]int, k)
	for j := range order {
		order[j] = j
	}
	return order
}

// one fits the mixture of one state.
func (f *fitting) one() mixture {
	best := mixture{nats: math.Inf(-1)}
	for _, noise := range []float64{0.02, 0.5, 0.95} { // noise as a fraction of the mean square step: starts with little, medium and large noise
		m := f.climbFrom(mixture{d: []float64{f.unit / f.time * (1 - noise)}, fraction: []float64{1}, noise: noise * f.noise}, 0)
		if m.nats > best.nats {
			best = m
		}
	}
	return best
}

// split returns the best mixture with one more state. It tries to split each state in turn.
func (f *fitting) split(m mixture) mixture {
	best := mixture{nats: math.Inf(-1)}
	for j := range m.d {
		for _, apart := range []float64{2, 8} { // ratios of D for similar states, and for a few objects that differ strongly from the rest
			next := mixture{noise: m.noise}
			for i := range m.d {
				if i != j {
					next.d, next.fraction = append(next.d, m.d[i]), append(next.fraction, m.fraction[i])
					continue
				}
				next.d = append(next.d, max(m.d[i]/apart, math.Exp(f.least)), m.d[i]*apart)
				next.fraction = append(next.fraction, m.fraction[i]/2, m.fraction[i]/2)
			}
			if got := f.climbFrom(next, rough); got.nats > best.nats {
				best = got
			}
		}
	}
	return f.climbFrom(best, 0)
}

// rough is the precision of the climbs from several starts before they are compared, nats. Relevant starts differ by more.
const rough = 0.3
