// A trap
//
// A path of dz = -κ(z - c)dt + σdW, started in its stationary law of variance S = σ²/2κ and measured with noise R = ρS, is Gaussian.
// One Kalman filter follows the path (innovations e, variances s) and a constant 1 (innovations e₁), in units of S:
//
//	ln L = -½[n ln S + Q/S + Σ ln s + ln Σ e₁²/s],  Q = Σ e²/s - (Σ ee₁/s)²/Σ e₁²/s          (20)
//
// n is the number of measurements minus one, because c is integrated out: at its maximum c absorbs a share of the motion, and κ is too
// large by 4/T. S has a closed form for every κ and ρ, which are on a grid. Each interval holds the values whose ln L, maximised over the
// rest, is within 1.92 of the maximum. On 100 simulated runs each it covers κ, σ and S in 0.94 to 0.99, for κΔt
// from 0.02 to 1 and noise up to the step's.

package estimator

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
)

// Spring is the law of one coordinate in a harmonic trap, dz = -κ(z - c)dt + σdW. Each figure has its 95 % interval. RateLow and
// StiffnessLow are 0 if the path does not exclude free motion. RateHigh is infinite if the path is too slow to follow the motion.
type Spring struct {
	Rate, RateLow, RateHigh                float64 // κ, 1/s
	Sigma, SigmaLow, SigmaHigh             float64 // σ, latent/s^½
	Stiffness, StiffnessLow, StiffnessHigh float64 // 2κ/σ², the trap's in units of kT/latent²: the inverse of z's variance
	Noise                                  float64 // √R, sd of the measurement, latent
}

// The grid of Relaxation: first over every rate that a path can resolve, then over the part with a likelihood that is not negligible.
const (
	coarseRates, coarseNoises = 41, 21
	fineRates, fineNoises     = 81, 41
	negligible                = 5    // log-likelihood below the maximum
	slowest                   = 1e-3 // rates from this over the path's time
	fastest                   = 10   // rates to this over the mean step
	leastNoise, mostNoise     = 1e-5, 1e3
	halfChi95                 = 1.920729 // half the 95 % quantile of χ² with one degree of freedom
)

// leastPath is the fewest latents that Relaxation accepts.
const leastPath = 10

// Relaxation fits a Spring to one coordinate of a path, by the restricted likelihood of (20), exact for noisy latents and any
// steps. Latents of other trajectories share the trap. The time is proportional to the latents, about 50 ms for 1000.
//
// It returns ErrLatent for fewer than 10 latents, for an unusable one, or if nothing moves, and ErrTimeOrder.
func Relaxation(path []latent.Latent, coordinate int) (Spring, error) {
	p, err := newTrapPath(path, coordinate)
	if err != nil {
		return Spring{}, err
	}
	rates := logSpaced(slowest/p.series.Seconds, fastest*float64(p.series.Steps)/p.series.Seconds, coarseRates)
	noises := logSpaced(leastNoise, mostNoise, coarseNoises)
	coarse := p.scan(rates, append(noises, 0))
	rates, noises = coarse.zoom()
	return p.scan(rates, noises).spring(), nil
}

// trapPath is a series scaled for the likelihood: mean 0, variance 1.
type trapPath struct {
	series *diffusion.Series
	scale  float64 // divisor of the series, latent
}

func newTrapPath(path []latent.Latent, coordinate int) (*trapPath, error) {
	if len(path) < leastPath {
		return nil, fmt.Errorf("relaxation: %w: %d frames, expected at least %d: give a longer path", diffusion.ErrLatent, len(path), leastPath)
	}
	s, err := diffusion.NewSeries(path, coordinate)
	if err != nil {
		return nil, fmt.Errorf("relaxation: %w", err)
	}
	mean, variance := stat.PopMeanVariance(s.M, nil)
	p := &trapPath{series: s, scale: math.Sqrt(variance)}
	if p.scale == 0 || s.Steps == 0 {
		return nil, fmt.Errorf("relaxation: %w: nothing moves in %d trajectories of %d frames: check that the object is in the picture", diffusion.ErrLatent, len(path)-s.Steps, len(path))
	}
	for i := range s.M {
		s.M[i] = (s.M[i] - mean) / p.scale
	}
	return p, nil
}

// likelihoods holds ln L over a grid of κ and ρ = R/S, each with the maximising S, the variance of z.
type likelihoods struct {
	path          *trapPath
	rates, noises []float64
	ln, variance  []float64 // of rate i and noise j at i·len(noises) + j
	top           int       // the index of the largest
}

// scan computes ln L on the grid.
func (p *trapPath) scan(rates, noises []float64) *likelihoods {
	l := &likelihoods{path: p, rates: rates, noises: noises}
	for _, rate := range rates {
		for _, noise := range noises {
			ln, variance := p.likelihood(rate, noise)
			l.ln, l.variance = append(l.ln, ln), append(l.variance, variance)
		}
	}
	l.top = floats.MaxIdx(l.ln)
	return l
}

// likelihood returns ln L of κ and ρ, (20): the path and a constant 1 pass one Kalman filter, in units of S.
func (p *trapPath) likelihood(rate, noise float64) (ln, variance float64) {
	var z, one, left float64        // filtered path and constant, remaining variance of z
	var mm, m1, sum11, logs float64 // Σ e²/s, Σ e e₁/s, Σ e₁²/s, Σ ln s
	var last, f, grown float64      // of a time step: e^(-κΔt) and the added variance; most steps equal the previous one
	product := 1.0                  // product of the s whose logarithm is still due
	for i, m := range p.series.M {
		if dt := p.series.DT[i]; dt > 0 {
			if dt != last {
				last, f, grown = dt, math.Exp(-rate*dt), -math.Expm1(-2*rate*dt)
			}
			z, one, left = f*z, f*one, f*f*left+grown
		} else {
			z, one, left = 0, 0, 1
		}
		s := left + noise
		e, e1, gain := m-z, 1-one, left/s
		mm, m1, sum11 = mm+e*e/s, m1+e*e1/s, sum11+e1*e1/s
		if product *= s; product < 1e-100 || product > 1e100 {
			logs, product = logs+math.Log(product), 1
		}
		z, one, left = z+gain*e, one+gain*e1, gain*noise
	}
	logs += math.Log(product)
	n := float64(len(p.series.M) - 1)
	variance = (mm - m1*m1/sum11) / n
	return -(n*(math.Log(variance)+1) + logs + math.Log(sum11)) / 2, variance
}

// zoom returns a finer grid over the part of this one with a likelihood that is not negligible.
func (l *likelihoods) zoom() (rates, noises []float64) {
	k := len(l.noises)
	first, last := len(l.rates), 0
	low, high, none := k, -1, false // the last noise is 0
	for at, ln := range l.ln {
		if ln < l.ln[l.top]-negligible {
			continue
		}
		i, j := at/k, at%k
		first, last = min(first, i), max(last, i)
		if j == k-1 {
			none = true
		} else {
			low, high = min(low, j), max(high, j)
		}
	}
	first, last = max(first-1, 0), min(last+1, len(l.rates)-1)
	rates = logSpaced(l.rates[first], l.rates[last], fineRates)
	if high >= 0 {
		noises = logSpaced(l.noises[max(low-1, 0)], l.noises[min(high+1, k-2)], fineNoises)
	}
	if none {
		noises = append(noises, 0)
	}
	return rates, noises
}

// spring returns the Spring. Each interval holds the values whose likelihood, maximised over the other numbers, is within halfChi95 of the
// maximum. At fixed κ and ρ it falls from its maximum over S by n(x - 1 - ln x)/2, with x the best S over S, as in profile.interval.
func (l *likelihoods) spring() Spring {
	k, n, top := len(l.noises), float64(len(l.path.series.M)-1), l.ln[l.top]
	rate, variance := l.rates[l.top/k], l.variance[l.top]
	s := Spring{Rate: rate, Sigma: math.Sqrt(2 * rate * variance), Stiffness: 1 / variance, Noise: math.Sqrt(l.noises[l.top%k] * variance),
		RateLow: math.Inf(1), SigmaLow: math.Inf(1), StiffnessLow: math.Inf(1)}
	for at, ln := range l.ln {
		room := ln - top + halfChi95
		if room < 0 {
			continue
		}
		rate := l.rates[at/k]
		small, large := l.variance[at]*math.Exp(-diffusion.ExcessRoot(2*room/n, 1)), l.variance[at]*math.Exp(-diffusion.ExcessRoot(2*room/n, -1))
		s.RateLow, s.RateHigh = min(s.RateLow, rate), max(s.RateHigh, rate)
		s.SigmaLow, s.SigmaHigh = min(s.SigmaLow, math.Sqrt(2*rate*small)), max(s.SigmaHigh, math.Sqrt(2*rate*large))
		s.StiffnessLow, s.StiffnessHigh = min(s.StiffnessLow, 1/large), max(s.StiffnessHigh, 1/small)
	}
	if s.RateLow <= slowest/l.path.series.Seconds*(1+1e-9) {
		s.RateLow, s.StiffnessLow = 0, 0
	}
	if s.RateHigh >= fastest*float64(l.path.series.Steps)/l.path.series.Seconds*(1-1e-9) {
		s.RateHigh = math.Inf(1)
		s.SigmaHigh = s.RateHigh
	}
	for _, v := range []*float64{&s.Sigma, &s.SigmaLow, &s.SigmaHigh, &s.Noise} {
		*v *= l.path.scale
	}
	for _, v := range []*float64{&s.Stiffness, &s.StiffnessLow, &s.StiffnessHigh} {
		*v /= l.path.scale * l.path.scale
	}
	return s
}

// logSpaced returns n numbers from low to high in equal ratios.
func logSpaced(low, high float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = low * math.Exp(math.Log(high/low)*float64(i)/float64(n-1))
	}
	return v
}
