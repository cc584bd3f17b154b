package exact

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// family is a set of laws with one more parameter than free diffusion: the exponent, the rate of a trap, the speed, or the lag of positions. The scale K = 2D
// and the variance of the noise are free in each law. With r = noise/K, the squares S and the logarithms of a series depend only on the parameter and r, and
//
//	ln L = -½ d (logs + n ln K + n ln 2π) - S/2K
//
// Both are tabulated over r and interpolated in ln r by cubics.
type family struct {
	shape   []float64   // the parameter
	squares [][]float64 // [shape·ratios + ratio][series]
	logs    [][]float64
	count   []float64 // steps of each series
	dims    float64
	from    int // range of tabulated ratios
	to      int
}

// asked is the input of a family: series, and a range of ratios.
type asked struct {
	all []series
	look
	from, to int
}

// Ratios of the noise to K, as ln.
const (
	ratioLow  = -9.6
	ratioStep = 0.6
	ratios    = 29 // to exp 7.2
)

// newFamily tabulates a family. The callback each fills in the values of all series for one parameter and ratio.
func (a *asked) newFamily(shape []float64, each func(shape, ratio float64, squares, logs []float64)) *family {
	f := &family{shape: shape, count: counts(a.all), dims: a.dims, from: a.from, to: a.to}
	f.squares, f.logs = make([][]float64, len(shape)*ratios), make([][]float64, len(shape)*ratios)
	n := a.to - a.from
	spread(len(shape)*n, a.cores, func(j int) {
		i := j/n*ratios + a.from + j%n
		f.squares[i], f.logs[i] = make([]float64, len(a.all)), make([]float64, len(a.all))
		each(shape[i/ratios], math.Exp(ratioLow+ratioStep*float64(i%ratios)), f.squares[i], f.logs[i])
		for k, v := range f.squares[i] {
			f.squares[i][k] = math.Log(max(v, 1e-300))
		}
	})
	return f
}

// every returns the input for all ratios.
func (c *comparison) every() *asked { return &asked{c.all, c.look, 0, ratios} }

// crew holds the largest number of cores, 0 for all, and the function that a single worker calls between two parts.
type crew struct {
	most  int
	pause func()
}

func (c crew) rest() {
	if c.pause != nil {
		c.pause()
	}
}

// spread calls each(0) to each(n-1) on the cores of a crew.
func spread(n int, by crew, each func(i int)) {
	if by.pause != nil {
		for i := range n {
			by.rest()
			each(i)
		}
		return
	}
	cores := by.most
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(cores, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				each(i)
			}
		})
	}
	all.Wait()
}

// cubic returns the Lagrange weights of four neighbours at 0, 1, 2, 3 for a value at x.
func cubic(x float64) [4]float64 {
	return [4]float64{-(x - 1) * (x - 2) * (x - 3) / 6, x * (x - 2) * (x - 3) / 2, -x * (x - 1) * (x - 3) / 2, x * (x - 1) * (x - 2) / 6}
}

// scale is the grid of ln K for populations.
type scale struct {
	low, step float64
	n         int
}

// newScale returns a grid of K from a thousandth of a mean square step to twelve times the mean square step.
func newScale(square float64) scale {
	return scale{math.Log(square) - 7, 0.13, 73}
}

func (s scale) at(k int) float64 { return s.low + s.step*float64(k) }

// likelihoods computes ln L of every series over the scales, one row per series, for one parameter and one noise.
func (f *family) likelihoods(shape int, noise float64, s scale, out []float64) {
	log := math.Log(max(noise, 1e-300))
	for k := range s.n {
		lnK := s.at(k)
		r := min(max((log-lnK-ratioLow)/ratioStep, float64(f.from)), float64(f.to-1))
		first := min(max(int(r)-1, f.from), f.to-4)
		w := cubic(r - float64(first))
		row := shape*ratios + first
		inverse := math.Exp(-lnK)
		for i, n := range f.count {
			squares := w[0]*f.squares[row][i] + w[1]*f.squares[row+1][i] + w[2]*f.squares[row+2][i] + w[3]*f.squares[row+3][i]
			logs := w[0]*f.logs[row][i] + w[1]*f.logs[row+1][i] + w[2]*f.logs[row+2][i] + w[3]*f.logs[row+3][i]
			out[i*s.n+k] = -0.5 * (f.dims*(logs+n*(lnK+logTwoPi)) + math.Exp(squares)*inverse)
		}
	}
}

// crowd is a normal law of ln K over a population.
type crowd struct{ mean, sd float64 }

// population fits the most likely Gaussian in ln K to tables of ln L, with a row of s.n per series. It returns ln L of all series and the law.
func population(likely []float64, s scale) (nats float64, found crowd) {
	n := len(likely) / s.n
	tops, table := make([]float64, n), make([]float32, len(likely))
	for i := range n {
		row := likely[i*s.n : (i+1)*s.n]
		top, at := math.Inf(-1), 0
		for k, v := range row {
			if v > top {
				top, at = v, k
			}
		}
		tops[i] = top
		found.mean += s.at(at) / float64(n)
		for k, v := range row {
			table[i*s.n+k] = float32(math.Exp(v - top))
		}
	}
	found.sd = 0.5
	nats = math.Inf(-1)
	prior, counts := make([]float64, s.n), make([]float64, s.n)
	for range 60 {
		s.bell(found, prior)
		clear(counts)
		sum := 0.0
		for i := range n {
			row, z := table[i*s.n:(i+1)*s.n], 1e-300
			for k, v := range row {
				z += float64(v) * prior[k]
			}
			sum += tops[i] + math.Log(z)
			for k, v := range row {
				counts[k] += float64(v) * prior[k] / z
			}
		}
		if sum-nats < 0.005 {
			return max(sum, nats), found
		}
		nats = sum
		mean, square := 0.0, 0.0
		for k, c := range counts {
			mean, square = mean+c*s.at(k)/float64(n), square+c*s.at(k)*s.at(k)/float64(n)
		}
		found = crowd{mean, math.Sqrt(max(square-mean*mean, 0.1*0.1))}
	}
	return nats, found
}

// bell computes a Gaussian over the scale, with a small floor everywhere.
func (s scale) bell(c crowd, out []float64) {
	sum := 0.0
	for k := range out {
		z := (s.at(k) - c.mean) / max(c.sd, 0.1)
		out[k] = math.Exp(-z*z/2) + 1e-14
		sum += out[k]
	}
	for k := range out {
		out[k] /= sum
	}
}

// best returns ln L of all series at the most likely noise for one parameter of the family, this noise, and the law of ln K.
func (f *family) best(shape int, s scale, square float64) (nats, noise float64, found crowd) {
	nats = math.Inf(-1)
	table := make([]float64, len(f.count)*s.n)
	try := func(log float64) float64 {
		f.likelihoods(shape, square*math.Exp(log), s, table)
		v, c := population(table, s)
		if v > nats {
			nats, noise, found = v, square*math.Exp(log), c
		}
		return v
	}
	grid := []float64{-9, -6, -4.5, -3.5, -2.7, -2, -1.5, -1.1, -0.8}
	at, top := 0, math.Inf(-1)
	for i, log := range grid {
		v := try(log)
		if v > top {
			at, top = i, v
		} else if v < top-20 {
			break
		}
	}
	low, high := grid[max(at-1, 0)], grid[min(at+1, len(grid)-1)]
	golden(try, low, high, 6)
	return nats, noise, found
}

// golden searches for the maximum of f between low and high by golden sections, with the given number of calls.
func golden(f func(float64) float64, low, high float64, calls int) {
	const share = 0.6180339887
	a, b := high-share*(high-low), low+share*(high-low)
	fa, fb := f(a), f(b)
	for range calls - 2 {
		if fa > fb {
			high, b, fb = b, a, fa
			a = high - share*(high-low)
			fa = f(a)
		} else {
			low, a, fa = a, b, fb
			b = low + share*(high-low)
			fb = f(b)
		}
	}
}

// counts returns the numbers of steps of series.
func counts(all []series) []float64 {
	out := make([]float64, len(all))
	for i := range all {
		out[i] = float64(len(all[i].at) - 1)
	}
	return out
}

// traps returns the family of Ornstein-Uhlenbeck processes by rate; a rate of 0 is free diffusion.
func (a *asked) traps(rates []float64) *family {
	return a.newFamily(rates, func(rate, ratio float64, squares, logs []float64) {
		variance, white := blurred(0.5, max(rate, 1e-7), a.exposure, ratio)
		for i := range a.all {
			squares[i], logs[i] = a.all[i].centred(variance, white, max(rate, 1e-7))
			if math.IsInf(squares[i], 1) {
				squares[i] = 1e300
			}
		}
	})
}

// directed returns the family of free diffusion with a velocity per series, Gaussian along each axis with variance K times the parameter.
func (a *asked) directed(speeds []float64) *family {
	return a.newFamily(speeds, func(speed, ratio float64, squares, logs []float64) {
		u := ratio - a.exposure/6
		for i := range a.all {
			all := a.all[i]
			var x, y, w, b float64 // residuals of both axes and of the time, and the covariance with the next step
			var sum, log, ww, bx, by float64
			q := 1.0
			for t := 1; t < len(all.at); t++ {
				g := float64(all.gap[t])
				c := b / q
				q = max(g+2*u-b*c, 1e-12)
				from, to := all.at[t-1], all.at[t]
				x, y, w = to[0]-from[0]-c*x, to[1]-from[1]-c*y, g-c*w
				sum += (x*x + y*y) / q
				log += math.Log(q)
				ww, bx, by = ww+w*w/q, bx+w*x/q, by+w*y/q
				b = -u
			}
			if speed > 0 {
				sum -= (bx*bx + by*by) / (ww + 1/speed)
				log += math.Log1p(speed * ww)
			}
			squares[i], logs[i] = sum, log
		}
	})
}

// anomalous returns the family of fractional Brownian motion by exponent.
func (a *asked) anomalous(exponents []float64) *family {
	s := newSteps(a.all)
	return a.newFamily(exponents, func(alpha, ratio float64, squares, logs []float64) {
		s.explain(fractional(alpha, a.exposure), ratio, squares, logs)
	})
}

// late returns the family of steps that contain a fraction of the previous step.
func (a *asked) late(shares []float64) *family {
	s := newSteps(a.all)
	return a.newFamily(shares, func(theta, ratio float64, squares, logs []float64) {
		s.explain(lagging(theta, a.exposure), ratio, squares, logs)
	})
}
