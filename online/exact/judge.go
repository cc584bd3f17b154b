package exact

import (
	"math"
	"slices"
)

// Class is the kind of motion of one track.
type Class int

// Classes of single tracks.
const (
	Stuck Class = iota
	Unbound
	Confined
	Driven
	Anomalous
	Classes
)

// String returns the name of the class.
func (c Class) String() string {
	return [Classes]string{"stuck", "free", "confined", "directed", "anomalous"}[c]
}

// judged is the result for one series.
type judged struct {
	class    [Classes]float64
	alpha, d Interval
}

// together is the number of series classified at a time.
const together = 1000

// Judge classifies tracks as they arrive and learns the frequency of each class from them. Its prior counts as 20 tracks, most of them free.
type Judge struct{ counts [Classes]float64 }

// Tracks returns the results of tracks, without states, with the population of a law as prior. If pause is not nil, Tracks works on one core.
func (j *Judge) Tracks(l *Law, tracks []Track, pause func()) []Object {
	out := make([]Object, len(tracks))
	var all []series
	var of []int
	for i, t := range tracks {
		if len(t) > 1 {
			all, of = append(all, newSeries(t, l.Axes)), append(of, i)
		}
	}
	if j.counts == [Classes]float64{} {
		j.counts = [Classes]float64{1, 16, 1, 1, 1}
	}
	c := *l.by
	c.cores.pause = pause
	for k, v := range c.judges(all, identity(len(all)), &j.counts) {
		out[of[k]] = Object{Judged: true, Class: v.class, Alpha: v.alpha, D: v.d}
	}
	return out
}

// judges returns the results of the chosen series. It learns the frequency of each class from them and from the counts of earlier series, so an unneeded
// class is not assigned. It adds its own counts to counts.
func (c *comparison) judges(all []series, chosen []int, counts *[Classes]float64) []judged {
	out := make([]judged, len(chosen))
	evidence := make([][Classes]float64, len(chosen))
	noise, crowd := c.noise[Free], c.crowd[Free]
	if c.gain[Trapped] > margins[Trapped] {
		noise, crowd = c.noise[Trapped], c.crowd[Trapped]
	}
	crowd.sd = max(crowd.sd, 0.5)
	s := newScale(c.square)
	prior := make([]float64, s.n)
	s.bell(crowd, prior)
	low, high := s.ratios(noise, prior)
	for from := 0; from < len(chosen); from += together {
		part := chosen[from:min(from+together, len(chosen))]
		ask := &asked{look: c.look, to: ratios}
		for _, i := range part {
			ask.all = append(ask.all, pieces(all[i:i+1], longestPiece)[0])
		}
		c.judgeExponents(ask, out[from:], s)
		ask.from, ask.to = low, high
		table := make([]float64, len(part)*s.n)
		each := func(f *family, shapes []int, to Class) {
			sums := make([][]float64, len(part))
			for _, shape := range shapes {
				f.likelihoods(shape, noise, s, table)
				for i := range part {
					if to == Stuck {
						sums[i] = append(sums[i], table[i*s.n])
						continue
					}
					sums[i] = append(sums[i], mixture(table[i*s.n:(i+1)*s.n], prior))
				}
			}
			for i := range part {
				evidence[from+i][to] = mixture(sums[i], nil)
			}
		}
		numbers := func(n int) []int { return identity(n)[1:] }
		rates := trapRates(30)
		speeds := append(slices.Clone(trackSpeeds), 3, 10, 30, 100)
		traps, driven := ask.traps(rates), ask.directed(speeds)
		ask.from, ask.to = ratios-5, ratios
		each(ask.directed([]float64{0}), []int{0}, Stuck)
		each(driven, []int{0}, Unbound)
		each(traps, numbers(len(rates)), Confined)
		each(driven, numbers(len(speeds)), Driven)
		for i := range part {
			evidence[from+i][Anomalous] = evidence[from+i][Unbound] + out[from+i].d.High // the gain of the averaged exponents over 1
			if math.IsInf(out[from+i].d.High, 1) {
				evidence[from+i][Anomalous] = out[from+i].d.Low
			}
		}
	}
	frequent(evidence, out, counts)
	return out
}

// judgeExponents fills in the exponent and D of each series with the population as prior. As intermediate results for judges, it stores ln L averaged over
// exponents in d.Low, and the gain of this average over exponent 1 in d.High; +Inf if the table has no likelihood at exponent 1.
func (c *comparison) judgeExponents(ask *asked, out []judged, s scale) {
	e := c.exponent
	wide := make([]float64, s.n)
	s.bell(crowd{e.at[atScale], max(e.width, 0.5)}, wide)
	ask.from, ask.to = s.ratios(e.noise, wide)
	cloud := newCloud(ask.anomalous(tabulated).finer(), e.noise, s, c.cores)
	weight, scale := cloud.weights(e.at)
	for i := range ask.all {
		o := &out[i]
		var d float64
		o.alpha, d = cloud.track(i, weight[:], scale)
		any, plain := 1e-300, 0.0
		for a := range exponents {
			sum := 0.0
			for k, v := range cloud.table[(i*exponents+a)*s.n:][:s.n] {
				sum += float64(v) * wide[k]
			}
			any += sum / exponents
			if math.Abs(exponentAt(a)-1) < exponentStep/2 {
				plain += sum
			}
		}
		if o.d = (Interval{d, cloud.top[i] + math.Log(any), math.Log(any / plain)}); plain < 1e-12*any {
			o.d.High = math.Inf(1)
		}
	}
}

// frequent learns the frequencies of the classes and fills in the class probabilities of each series.
func frequent(evidence [][Classes]float64, out []judged, counts *[Classes]float64) {
	known, sums := 0.0, *counts
	for _, n := range counts {
		known += n
	}
	weights := [Classes]float64{0.05, 0.8, 0.05, 0.05, 0.05}
	for range 40 {
		sums = *counts
		for i := range evidence {
			top, sum := math.Inf(-1), 0.0
			for k, v := range evidence[i] {
				top = max(top, v+math.Log(weights[k]+1e-12))
			}
			for k, v := range evidence[i] {
				out[i].class[k] = math.Exp(v + math.Log(weights[k]+1e-12) - top)
				sum += out[i].class[k]
			}
			for k := range out[i].class {
				out[i].class[k] /= sum
				sums[k] += out[i].class[k]
			}
		}
		for k := range weights {
			weights[k] = sums[k] / (known + float64(len(evidence)))
		}
	}
	*counts = sums
	for i := range out {
		out[i].d.Low, out[i].d.High = math.NaN(), math.NaN()
	}
}

// mixture returns ln of the weighted mean of exp(values). nil weights are equal weights.
func mixture(values, weights []float64) float64 {
	top := math.Inf(-1)
	for _, v := range values {
		top = max(top, v)
	}
	sum := 0.0
	for k, v := range values {
		w := 1 / float64(len(values))
		if weights != nil {
			w = weights[k]
		}
		sum += w * math.Exp(v-top)
	}
	return top + math.Log(max(sum, 1e-300))
}

// ratios returns the range of ratios that a noise needs over the scales with non-negligible prior.
func (s scale) ratios(noise float64, prior []float64) (from, to int) {
	low, high := reach(prior)
	at := func(k int) int { return int((math.Log(max(noise, 1e-300)) - s.at(k) - ratioLow) / ratioStep) }
	from = min(max(at(high)-2, 0), ratios-5)
	return from, min(max(at(low)+3, from+5), ratios)
}
