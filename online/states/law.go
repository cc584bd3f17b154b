package states

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Options describe the film and the fit.
type Options struct {
	Exposure float64 // exposure time of a frame, s
	Depth    float64 // thickness of the slab in focus, px; 0 if unknown
	States   int     // number of states, without a spread; 0: the evidence decides on both
	Most     int     // largest number of states that the evidence may choose; 0 means MostStates
	Lag      int     // frames per step, see Law; 0: the evidence decides
	Cores    int     // largest number of cores, 0 means one; the law does not depend on it
	Pause    func()  // called between tracks, from the caller's goroutine; may be nil. If set, Infer works on one core
}

// State is one state of a population.
type State struct {
	D        Interval // px²/s
	Fraction Interval // fraction of the objects' time
	Tracked  float64  // fraction of the tracks
}

// Law is the law of a population.
type Law struct {
	Tracks, Steps int
	D             Interval // mean over the objects' time, px²/s
	States        []State  // by ascending D
	Spread        Interval // sd of ln D within a state; 0 without a spread
	Noise         float64  // localisation sd along an axis at the mean scale, px
	Scale         float64  // localisation variance at scale 1, px²
	Stray         float64  // ln of the density of a stray step, 1/px²
	MostNoise     float64  // upper end of the interval of the localisation sd at scale 1, px
	Lag           int      // frames per step: 1, or more if the film smears motion over frames
	Nats          float64  // log likelihood of the mixture
	Objects       []Object // one per segment

	exposure float64 // exposure that Judge uses for long steps, s
}

// Object is the result of the law for one segment.
type Object struct {
	State []float64 // probability of each state
	D     Interval  // D of the object, shrunk towards the D of its state, px²/s
}

// Infer finds the law of a population. It returns false if no step moves.
func Infer(segments []Segment, o Options) (*Law, bool) {
	if o.Lag == 0 {
		o.Lag = lagOf(segments)
	}
	o.Exposure = o.exposed(segments)
	f, ok := newFitting(every(segments, o.Lag), o)
	if !ok {
		return nil, false
	}
	m := f.pick(&o)
	found := f.intervals(&m)
	l := &Law{Tracks: len(segments), Lag: o.Lag, exposure: o.Exposure, Noise: math.Sqrt(m.noise * f.unit / f.noise), Spread: found.spread, Nats: m.nats}
	for i := range segments {
		l.Steps += len(segments[i].Steps)
	}
	likely := f.responsibilities(&m)
	shares := f.shares(likely, &m, o.Depth)
	for j := range m.d {
		shares.sd[j] *= math.Sqrt(float64(o.Lag)) // the parts of a track are not independent
		l.States = append(l.States, State{found.d[j], shares.interval(j, found.fraction[j]), m.fraction[j]})
	}
	l.D = f.mean(&m, found.d, shares)
	l.Stray, l.Scale, l.MostNoise = f.stray, m.noise, math.Sqrt(f.mostNoise(&m))
	if o.Lag <= 1 {
		f.objects(l, &m, likely)
		return l, true
	}
	for _, s := range segments {
		l.Objects = append(l.Objects, l.Judge(s, o.Exposure))
	}
	return l, true
}

// Spectrum returns the distribution of D over the objects' time, for any number of states, with localisation sds up to arrayReach times mostNoise, px. Set
// Options.Lag to the lag of the law.
func Spectrum(segments []Segment, o Options, mostNoise float64) []Bin {
	o.Exposure = o.exposed(segments)
	f, ok := newFitting(every(segments, o.Lag), o)
	if !ok {
		return nil
	}
	return f.newArray(arrayReach*mostNoise).spectrum(f.time, o.Depth)
}

// pick returns the mixture that the options ask for.
func (f *fitting) pick(o *Options) mixture {
	switch k := o.States; {
	case k == 0 && o.Most > 0:
		return f.choose(o.Most)
	case k == 0:
		return f.choose(MostStates)
	}
	m := f.one()
	for len(m.d) < o.States {
		m = f.split(m)
	}
	return m
}

// mostNoise returns the upper end of the interval of the noise, from the curvature.
func (f *fitting) mostNoise(m *mixture) float64 {
	bare := *m
	bare.table = nil
	p := f.profileOf(&bare, ascending(len(m.d)))
	return m.noise + normal95*p.sd(2*len(m.d)-1)*f.noise
}

// responsibilities returns the probabilities of every state, one row per segment.
func (f *fitting) responsibilities(m *mixture) *mat.Dense {
	k := len(m.d)
	out := mat.NewDense(len(f.segments), k, nil)
	for i := range f.segments {
		row, top := out.RawRowView(i), math.Inf(-1)
		for j := range row {
			row[j] = math.Log(m.fraction[j]) + f.within(m, i, j)
			top = max(top, row[j])
		}
		sum := 0.0
		for j := range row {
			row[j] = math.Exp(row[j] - top)
			sum += row[j]
		}
		for j := range row {
			row[j] /= sum
		}
	}
	return out
}

// within returns the log likelihood of segment i in state j.
func (f *fitting) within(m *mixture, i, j int) float64 {
	if m.table == nil {
		return f.segments[i].logLikelihood(law{m.d[j], m.noise, f.exposure, f.stray})
	}
	n := len(m.table.logD)
	sum, norm := 0.0, 0.0
	for q, x := range m.table.logD {
		z := (x - math.Log(m.d[j])) / m.spread
		p := math.Exp(-z * z / 2)
		norm += p
		sum += p * float64(m.table.likely[i*n+q])
	}
	return m.table.tops[i] + math.Log(max(sum, math.SmallestNonzeroFloat64)/norm)
}

// shares converts fractions of tracks into fractions of the objects' time. The mean length of tracks differs between states, and some fast objects leave the
// focus within a step, so the step is not observed.
type shares struct {
	tracks, time []float64 // fractions of each state
	sd           []float64 // sd of the logarithm of the ratio of time odds to track odds, as if tracks were resampled
}

func (f *fitting) shares(likely *mat.Dense, m *mixture, depth float64) *shares {
	k := len(m.d)
	s := &shares{tracks: make([]float64, k), time: make([]float64, k), sd: make([]float64, k)}
	steps := make([]float64, k)
	for i := range f.segments {
		w := f.segments[i].Weight
		for j, r := range likely.RawRowView(i) {
			s.tracks[j] += w * r
			steps[j] += w * r * float64(len(f.segments[i].Steps))
		}
	}
	tracks, all := 0.0, 0.0
	for j := range k {
		s.time[j] = steps[j] / InFocus(m.d[j], f.time, depth)
		tracks, all = tracks+s.tracks[j], all+s.time[j]
	}
	for j := range k { // Var ln n̄ = Σ r²(n - n̄)²/(Σ r n)², of the state and of the others
		n, other := steps[j]/s.tracks[j], (sum(steps)-steps[j])/(tracks-s.tracks[j])
		var own, others float64
		for i := range f.segments {
			r, length := f.segments[i].Weight*likely.At(i, j), float64(len(f.segments[i].Steps))
			rest := f.segments[i].Weight - r
			own += r * r * (length - n) * (length - n)
			others += rest * rest * (length - other) * (length - other)
		}
		if k > 1 {
			s.sd[j] = math.Sqrt(own/(steps[j]*steps[j]) + others/math.Pow(sum(steps)-steps[j], 2))
		}
	}
	for j := range k {
		s.tracks[j], s.time[j] = s.tracks[j]/tracks, s.time[j]/all
	}
	return s
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

// interval returns the interval of the time share of state j, from the interval f of its track fraction.
func (s *shares) interval(j int, f Interval) Interval {
	if len(s.time) == 1 || !(s.time[j] > 0 && s.time[j] < 1 && s.tracks[j] > 0 && s.tracks[j] < 1) {
		return f
	}
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	shift := logit(s.time[j]) - logit(s.tracks[j])
	middle := logit(f.Value)
	end := func(p, side float64) float64 {
		if p <= 0 || p >= 1 {
			return p
		}
		return logistic(middle + shift + side*math.Hypot(logit(p)-middle, normal95*s.sd[j]))
	}
	return Interval{logistic(middle + shift), end(f.Low, -1), end(f.High, 1)}
}

// mean returns the mean D over the objects' time. For one state without a spread, its interval is the interval of the state. Otherwise the interval of its
// logarithm follows to first order from the fitted coordinates.
func (f *fitting) mean(m *mixture, d []Interval, s *shares) Interval {
	k := len(m.d)
	if k == 1 && m.table == nil {
		return d[0]
	}
	p := f.profileOf(m, ascending(k))
	of := func(at []float64) float64 {
		logs, top, bottom := stick(at[k:2*k-1]), 0.0, 0.0
		for j := range k {
			w := math.Exp(logs[j]) * s.time[j] / s.tracks[j]
			top, bottom = top+w*math.Exp(at[j]), bottom+w
		}
		v := math.Log(top / bottom)
		if m.table != nil {
			v += at[2*k-1] * at[2*k-1] / 2
		}
		return v
	}
	value, variance := of(p.top), p.varianceOf(of)
	half := normal95 * math.Sqrt(variance)
	if math.IsInf(half, 1) || math.IsNaN(half) { // no curvature: use the range of the states' intervals
		return Interval{math.Exp(value), d[0].Low, max(d[k-1].High, math.Exp(value))}
	}
	return Interval{math.Exp(value), math.Exp(value - half), math.Exp(value + half)}
}

// varianceOf returns the variance of a function of the coordinates, to first order.
func (p *profile) varianceOf(of func(at []float64) float64) float64 {
	n := len(p.top)
	var free []int
	for k := range p.top {
		if p.top[k] > p.least[k] {
			free = append(free, k)
		}
	}
	slope, at := mat.NewVecDense(len(free), nil), append([]float64(nil), p.top...)
	a := mat.NewSymDense(len(free), nil)
	for i, k := range free {
		at[k] = p.top[k] + difference
		up := of(at)
		at[k] = p.top[k] - difference
		slope.SetVec(i, (up-of(at))/(2*difference))
		at[k] = p.top[k]
		for j := i; j < len(free); j++ {
			a.SetSym(i, j, -p.hessian.At(k, free[j]))
		}
	}
	var factor mat.Cholesky
	solved := mat.NewVecDense(len(free), nil)
	if n == 0 || !factor.Factorize(a) || factor.SolveVecTo(solved, slope) != nil {
		return math.Inf(1)
	}
	return max(mat.Dot(slope, solved), 0)
}

// Judge returns the state and the D of a segment, which need not be part of the fit. exposure is the exposure time of its film, s.
func (l *Law) Judge(s Segment, exposure float64) Object {
	if l.Lag > 1 {
		exposure = l.exposure
	}
	f := &fitting{segments: []Segment{s.every(l.Lag)}, exposure: exposure, stray: l.Stray}
	m := mixture{noise: l.Scale, spread: l.Spread.Value}
	for _, state := range l.States {
		m.d, m.fraction = append(m.d, state.D.Value), append(m.fraction, state.Tracked)
	}
	if m.spread > 0 {
		f.unit, f.time, f.noise = l.D.Value, 1, 1 // a grid around the mean D
		m.table = f.tabulate(m.noise)
	}
	return f.object(l, &m, 0, f.responsibilities(&m).RawRowView(0))
}

func (f *fitting) objects(l *Law, m *mixture, likely *mat.Dense) {
	for i := range f.segments {
		l.Objects = append(l.Objects, f.object(l, m, i, likely.RawRowView(i)))
	}
}

func (f *fitting) object(l *Law, m *mixture, i int, likely []float64) Object {
	o := Object{State: append([]float64(nil), likely...)}
	if m.table != nil {
		o.D = f.continuous(m, i)
		return o
	}
	o.D = discrete(m.d, o.State)
	for j, p := range o.State { // include the uncertainty of the state's D
		if o.D.Low == m.d[j] {
			o.D.Low = l.States[j].D.Low
		}
		if o.D.High == m.d[j] && p > 0 {
			o.D.High = l.States[j].D.High
		}
	}
	return o
}

// discrete returns the mean and the interval of a D with values d and probabilities p.
func discrete(d, p []float64) (v Interval) {
	below := 0.0
	v.Low, v.High = math.NaN(), d[len(d)-1]
	for j := range d {
		v.Value += p[j] * d[j]
		before := below
		below += p[j]
		if before < tail && below >= tail {
			v.Low = d[j]
		}
		if before < 1-tail && below >= 1-tail {
			v.High = d[j]
		}
	}
	if math.IsNaN(v.Low) {
		v.Low = d[0]
	}
	return v
}

// tail is the probability outside a 95 % interval on one side.
const tail = 0.025

// continuous returns the mean and the interval of the D of segment i, for a mixture with a spread.
func (f *fitting) continuous(m *mixture, i int) Interval {
	t := m.table
	n := len(t.logD)
	p, d := make([]float64, n), make([]float64, n)
	total := 0.0
	for q, x := range t.logD {
		d[q] = math.Exp(x)
		for j := range m.d {
			z := (x - math.Log(m.d[j])) / m.spread
			p[q] += m.fraction[j] * math.Exp(-z*z/2)
		}
		p[q] *= float64(t.likely[i*n+q])
		total += p[q]
	}
	for q := range p {
		p[q] /= total
	}
	return discrete(d, p)
}
