package sim

import (
	"math"
	"math/rand/v2"
)

// emccd is an electron-multiplying camera. A pixel with λ expected photoelectrons reads
//
//	offset + gain·Gamma(n, 1) + N(0, read²) counts,   n ~ Poisson(λ).
//
// The multiplication register turns n electrons into a sum of n exponentials, which doubles the variance of the shot noise (the excess noise factor 2; Basden,
// Haniff and Mackay, MNRAS 345, 2003). The mean is offset + gain·λ, the variance 2 gain² λ + read².
type emccd struct {
	offset float64 // counts in the dark
	gain   float64 // counts per photoelectron: the register's gain divided by the converter's electrons per count
	read   float64 // counts, standard deviation of the readout noise
}

// sample draws one pixel with the given expected photoelectrons. It simulates the arrivals of the Poisson process, so its time is proportional to the
// photoelectrons.
func (c emccd) sample(rng *rand.Rand, electrons float64) uint16 {
	multiplied := 0.0
	for t := rng.ExpFloat64(); t < electrons; t += rng.ExpFloat64() {
		multiplied += rng.ExpFloat64()
	}
	return digitise(c.offset + c.gain*multiplied + c.read*rng.NormFloat64())
}

// digitise rounds to a 16-bit count and saturates.
func digitise(counts float64) uint16 {
	return uint16(min(max(math.Round(counts), 0), math.MaxUint16))
}

// table returns a table of sample's distribution at the given photoelectrons, from which values are drawn in constant time.
func (c emccd) table(electrons float64) *NoiseTable {
	first, counts := c.law(electrons, noiseValues)
	return newNoiseTable(first, counts)
}

// law returns the probabilities of the counts first .. first + n - 1.
func (c emccd) law(electrons float64, n int) (first int, counts []float64) {
	reach := int(math.Ceil(7 * c.read)) // 3e-12 of the readout noise lies beyond 7 sd
	multiplied := c.multiplied(electrons, n-2*reach)
	readout := make([]float64, 2*reach+1)
	for i := range readout {
		x := float64(i - reach)
		readout[i] = normalCDF((x+0.5)/c.read) - normalCDF((x-0.5)/c.read)
	}
	counts = make([]float64, n)
	for i, p := range multiplied {
		for j, q := range readout {
			counts[i+j] += p * q
		}
	}
	return int(math.Round(c.offset)) - reach, counts
}

// information returns the Fisher information of a count about the expected photoelectrons λ:
//
//	Σ_k (∂p_k/∂λ)²/p_k,
//
// with the derivative by central differences. A normal law would have the inverse variance as its information; the information is larger here because the law
// is skewed. It is less than 1/λ, the information of a camera that counts electrons.
func (c emccd) information(electrons float64) float64 {
	const (
		step  = 0.01  // step relative to λ, small enough that the error of the differences is 1e-4 of the third derivative
		least = 1e-10 // smaller probabilities are left out, because their differences are rounding errors
	)
	n := int(c.gain*(electrons+10*math.Sqrt(2*electrons+1))) + int(20*c.read)
	_, below := c.law(electrons-step, n)
	_, above := c.law(electrons+step, n)
	sum := 0.0
	for k, p := range below {
		if p > least {
			slope := (above[k] - p) / (2 * step)
			sum += slope * slope * 2 / (above[k] + p)
		}
	}
	return sum
}

// multiplied returns P(m - 1/2 < gain·Gamma(N, 1) ≤ m + 1/2) for m = 0 .. n-1 and N ~ Poisson(electrons). With y = x/gain,
//
//	P(gain·Gamma(N, 1) > x) = Σₖ Pois(k; y) P(N > k),
//
// because a sum of N exponentials exceeds y if the Poisson process of rate 1 has had fewer than N arrivals by then.
func (c emccd) multiplied(electrons float64, n int) []float64 {
	more := poissonTail(electrons)
	exceeds := func(x float64) float64 {
		y := x / c.gain
		pois, sum := math.Exp(-y), 0.0
		for k, tail := range more {
			sum += pois * tail
			pois *= y / float64(k+1)
		}
		return sum
	}
	p := make([]float64, n)
	above := 1.0 // m = 0 includes exactly 0, the case of no electrons
	for m := range p {
		next := exceeds(float64(m) + 0.5)
		p[m] = above - next
		above = next
	}
	return p
}

// poissonTail returns P(N > k) for k = 0, 1, ... until it vanishes.
func poissonTail(mean float64) []float64 {
	var tail []float64
	p, left := math.Exp(-mean), 1.0
	for k := 0; ; k++ {
		left -= p
		if left < 1e-15 || p < 1e-18 && float64(k) > mean { // the rest may be rounding errors
			return tail
		}
		tail = append(tail, left)
		p *= mean / float64(k+1)
	}
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
