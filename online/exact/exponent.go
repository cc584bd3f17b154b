package exact

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// tabulated lists the exponents of the table. Populations use a finer grid.
var tabulated = []float64{0.04, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.88, 1.95}

const (
	exponentLow  = 0.05
	exponentStep = 0.05
	exponents    = 38 // to 1.9
)

func exponentAt(a int) float64 { return exponentLow + exponentStep*float64(a) }

// finer interpolates a family of exponents to the finer grid for populations.
func (f *family) finer() *family {
	out := &family{count: f.count, dims: f.dims, from: f.from, to: f.to}
	for a := range exponents {
		x := exponentAt(a)
		out.shape = append(out.shape, x)
		first := 0
		for first < len(f.shape)-4 && f.shape[first+2] < x {
			first++
		}
		var w [4]float64
		for i := range w {
			w[i] = 1
			for j := range w {
				if i != j {
					w[i] *= (x - f.shape[first+j]) / (f.shape[first+i] - f.shape[first+j])
				}
			}
		}
		for r := range ratios {
			if r < f.from || r >= f.to {
				out.squares, out.logs = append(out.squares, nil), append(out.logs, nil)
				continue
			}
			squares, logs := make([]float64, len(f.count)), make([]float64, len(f.count))
			for i := range w {
				row := (first+i)*ratios + r
				for k := range squares {
					squares[k] += w[i] * f.squares[row][k]
					logs[k] += w[i] * f.logs[row][k]
				}
			}
			out.squares, out.logs = append(out.squares, squares), append(out.logs, logs)
		}
	}
	return out
}

// cloud holds the likelihood of every series over exponents and scales for one noise, divided by its maximum.
type cloud struct {
	scale
	table []float32 // [series][exponent][scale]
	top   []float64 // ln of the maximum of each series
	tops  float64   // their sum
	n     int
}

func newCloud(f *family, noise float64, s scale, cores crew) *cloud {
	n := len(f.count)
	c := &cloud{scale: s, n: n, table: make([]float32, n*exponents*s.n)}
	all := make([][]float64, exponents)
	spread(exponents, cores, func(a int) {
		all[a] = make([]float64, n*s.n)
		f.likelihoods(a, noise, s, all[a])
	})
	for i := range n {
		top := math.Inf(-1)
		for a := range exponents {
			for _, v := range all[a][i*s.n : (i+1)*s.n] {
				top = max(top, v)
			}
		}
		c.top, c.tops = append(c.top, top), c.tops+top
		for a := range exponents {
			to := c.table[(i*exponents+a)*s.n:]
			for k, v := range all[a][i*s.n : (i+1)*s.n] {
				if v > top-30 {
					to[k] = float32(math.Exp(v - top))
				}
			}
		}
	}
	return c
}

// Indices of the parameters of a population: the mean exponent, ln of its standard deviation, the mean of ln K, ln of its standard deviation.
const (
	atMean = iota
	atSpread
	atScale
	atWidth
	populations
)

// ln of the standard deviations of exponents and of ln K below which a population is a point: finer than their grids.
const (
	pointSpread = -3.5
	pointWidth  = -2.3
)

// weights returns the weights of exponents and scales for the parameters of a population.
func (c *cloud) weights(x []float64) (exponent [exponents]float64, scale []float64) {
	sd, sum := math.Exp(max(x[atSpread], pointSpread)), 0.0
	for a := range exponent {
		z := (exponentAt(a) - x[atMean]) / sd
		exponent[a] = math.Exp(-z*z/2) + 1e-14
		sum += exponent[a]
	}
	for a := range exponent {
		exponent[a] /= sum
	}
	scale = make([]float64, c.scale.n)
	c.bell(crowd{x[atScale], math.Exp(x[atWidth])}, scale)
	return exponent, scale
}

// nats returns -ln L of all series for the parameters of a population, with a mild prior that the sd of exponents is below a half.
func (c *cloud) nats(x []float64, cores crew) float64 {
	if !(x[atMean] > 0.01 && x[atMean] < 1.98) || x[atSpread] > 0.5 || x[atWidth] > 1.3 {
		return math.Inf(1)
	}
	// below these bounds nothing changes any more: a gentle slope back keeps the search from wandering off
	point := math.Pow(min(x[atSpread]-pointSpread, 0), 2) + math.Pow(min(x[atWidth]-pointWidth, 0), 2)
	exponent, scale := c.weights(x)
	lowA, highA := reach(exponent[:])
	lowK, highK := reach(scale)
	const part = 64
	sums := make([]float64, (c.n+part-1)/part)
	spread(len(sums), cores, func(j int) {
		for i := j * part; i < min((j+1)*part, c.n); i++ {
			z := 1e-30
			for a := lowA; a < highA; a++ {
				row, sum := c.table[(i*exponents+a)*c.scale.n:][:c.scale.n], 0.0
				for k := lowK; k < highK; k++ {
					sum += float64(row[k]) * scale[k]
				}
				z += exponent[a] * sum
			}
			sums[j] += math.Log(z)
		}
	})
	total := 0.0
	for _, v := range sums {
		total += v
	}
	sd := math.Exp(x[atSpread])
	return -total - c.tops + 2*sd*sd + point
}

// reach returns the index range outside which the weights are negligible.
func reach(w []float64) (low, high int) {
	low, high = 0, len(w)
	for low < high-1 && w[low] < 1e-9 {
		low++
	}
	for high > low+1 && w[high-1] < 1e-9 {
		high--
	}
	return low, high
}

// exponent is the result of a fit of a population of fractional motion.
type exponent struct {
	mean   Interval
	spread float64 // sd between tracks
	nats   float64 // ln L at its best
	plain  float64 // ln L with all exponents 1
	noise  float64 // variance
	d      float64 // mean of K/2, over the series
	width  float64 // sd of ln K
	tracks []Interval
	at     []float64 // the parameters of the population
}

// noises lists the tested variances of the noise, as ln of the ratio to a mean square step; the first is practically zero.
var noises = []float64{-9, -7, -6, -5, -4.2, -3.5, -3, -2.5, -2.1, -1.7, -1.4, -1.1, -0.85}

// fitExponent fits the exponent of a population. The interval combines the curvature at each noise with the marginal over the noise, flat in its logarithm:
// short tracks cannot tell subdiffusion from noise, and then little noise is preferred. The exponents of single tracks belong to the noise of the median.
func fitExponent(f *family, square float64, cores crew) *exponent {
	fine, s := f.finer(), newScale(square)
	type tried struct {
		noise, nats, mean, sd float64
		share                 float64 // of the prior of the noise
		x                     []float64
	}
	var all []tried
	e := &exponent{nats: math.Inf(-1), plain: math.Inf(-1)}
	start := []float64{1, -2, math.Log(square) - 0.3, -1}
	plain := []float64{1, -4, math.Log(square) - 0.3, -1}
	for i, log := range noises {
		noise := square * math.Exp(log)
		c := newCloud(fine, noise, s, cores)
		like := func(x []float64) float64 { return c.nats(x, cores) }
		e.plain = max(e.plain, -descend(like, plain, []int{atScale, atWidth}, 30))
		x := append([]float64(nil), start...)
		v := descend(like, x, []int{atMean, atSpread, atScale, atWidth}, 40)
		if len(all) == 0 {
			for _, other := range []float64{0.5, 1.5} {
				y := []float64{other, -2, start[2], -1}
				if w := descend(like, y, []int{atMean, atSpread, atScale, atWidth}, 40); w < v {
					x, v = y, w
				}
			}
		}
		start = x
		share := (noises[min(i+1, len(noises)-1)] - noises[max(i-1, 0)]) / 2
		t := tried{noise: noise, nats: -v, mean: x[atMean], x: x, share: share}
		e.nats = max(e.nats, -v)
		if -v > e.nats-8 {
			t.sd = free(like, x)
			all = append(all, t)
		} else if len(all) > 2 && -v < e.nats-40 {
			break
		}
	}
	var weights, means, sds []float64
	for _, t := range all {
		if t.nats > e.nats-8 {
			weights, means, sds = append(weights, t.share*math.Exp(t.nats-e.nats)), append(means, t.mean), append(sds, t.sd)
		}
	}
	e.mean = mixed(weights, means, sds)
	middle := slices.MinFunc(all, func(a, b tried) int {
		return cmp.Compare(math.Abs(a.mean-e.mean.Value), math.Abs(b.mean-e.mean.Value))
	})
	e.noise, e.at = middle.noise, middle.x
	e.spread, e.width = math.Exp(max(e.at[atSpread], pointSpread)), max(math.Exp(e.at[atWidth]), 0.01)
	newCloud(fine, e.noise, s, cores).each(e.at, e)
	return e
}

// free returns the standard deviation of the mean exponent, from the curvature over the entries of x that are not at their bounds. A spread or a width at its
// bound counts as zero.
func free(like func([]float64) float64, x []float64) float64 {
	open := []int{atMean, atScale}
	if x[atSpread] > pointSpread+0.1 {
		open = append(open, atSpread)
	}
	if x[atWidth] > pointWidth+0.1 {
		open = append(open, atWidth)
	}
	at, z := append([]float64(nil), x...), make([]float64, len(open))
	for k, i := range open {
		z[k] = x[i]
	}
	return curvature(func(z []float64) float64 {
		for k, i := range open {
			at[i] = z[k]
		}
		return like(at)
	}, z, 1e-4, 0.6)[0]
}

// mixed returns the median and the 95 % interval of a mixture of Gaussians.
func mixed(weights, means, sds []float64) Interval {
	sum := floats.Sum(weights)
	below := func(x float64) float64 {
		p := 0.0
		for i, w := range weights {
			p += w / sum * 0.5 * math.Erfc((means[i]-x)/(sds[i]*math.Sqrt2))
		}
		return p
	}
	at := func(share float64) float64 {
		low, high := -1.0, 3.0
		for range 50 {
			if mid := (low + high) / 2; below(mid) < share {
				low = mid
			} else {
				high = mid
			}
		}
		return low
	}
	return Interval{at(0.5), at(0.025), at(0.975)}
}

// each fills in the result of every series, with the population as its prior.
func (c *cloud) each(x []float64, e *exponent) {
	weight, scale := c.weights(x)
	for i := range c.n {
		alpha, d := c.track(i, weight[:], scale)
		e.tracks = append(e.tracks, alpha)
		e.d += d / float64(c.n)
	}
}

// track returns the exponent and D of series i, given the weights of exponents and scales.
func (c *cloud) track(i int, weight, scale []float64) (alpha Interval, d float64) {
	var sum, mean, square float64
	for a, w := range weight {
		p := 0.0
		for k, v := range c.table[(i*exponents+a)*c.scale.n:][:c.scale.n] {
			q := float64(v) * w * scale[k]
			p += q
			d += q * math.Exp(c.at(k)) / 2
		}
		sum, mean, square = sum+p, mean+p*exponentAt(a), square+p*exponentAt(a)*exponentAt(a)
	}
	sum = max(sum, 1e-300)
	mean, square = mean/sum, square/sum
	sd := math.Sqrt(max(square-mean*mean, exponentStep*exponentStep/12))
	return Interval{mean, mean - 1.96*sd, mean + 1.96*sd}, d / sum
}
