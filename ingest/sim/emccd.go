package sim

import (
	"math"
	"math/rand/v2"
)

// emccd is an electron-multiplying camera. A pixel that expects λ photoelectrons reads
//
//	offset + gain·Gamma(n, 1) + N(0, read²) counts,   n ~ Poisson(λ):
//
// the multiplication register turns n electrons into a sum of n exponentials, which doubles the shot noise's variance (the excess
// noise factor 2; Basden, Haniff and Mackay, MNRAS 345, 2003). The mean is offset + gain·λ, the variance 2 gain² λ + read².
type emccd struct {
	offset float64 // counts in the dark
	gain   float64 // counts a photoelectron: the register's gain over the converter's electrons per count
	read   float64 // counts, standard deviation of the readout noise
}

// sample draws one pixel that expects the given photoelectrons. Its time grows with them: it walks the arrivals of the Poisson
// process one by one.
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

// table is the law of sample at the given photoelectrons, ready to be drawn from in constant time.
func (c emccd) table(electrons float64) *noiseTable {
	reach := int(math.Ceil(7 * c.read)) // beyond 7 sd lie 3e-12 of the readout noise
	multiplied := c.multiplied(electrons, noiseValues-2*reach)
	readout := make([]float64, 2*reach+1)
	for i := range readout {
		x := float64(i - reach)
		readout[i] = normalCDF((x+0.5)/c.read) - normalCDF((x-0.5)/c.read)
	}
	counts := make([]float64, noiseValues)
	for i, p := range multiplied {
		for j, q := range readout {
			counts[i+j] += p * q
		}
	}
	return newNoiseTable(int(math.Round(c.offset))-reach, counts)
}

// multiplied returns P(m - 1/2 < gain·Gamma(N, 1) ≤ m + 1/2) for m = 0 .. n-1 and N ~ Poisson(electrons). With y = x/gain,
//
//	P(gain·Gamma(N, 1) > x) = Σₖ Pois(k; y) P(N > k),
//
// since a sum of N exponentials exceeds y where the Poisson process of rate 1 has had fewer than N arrivals by then.
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
	above := 1.0 // no electron leaves the register at exactly 0, which belongs to m = 0
	for m := range p {
		next := exceeds(float64(m) + 0.5)
		p[m] = above - next
		above = next
	}
	return p
}

// poissonTail returns P(N > k) for k = 0, 1, ... until nothing is left.
func poissonTail(mean float64) []float64 {
	var tail []float64
	p, left := math.Exp(-mean), 1.0
	for k := 0; ; k++ {
		left -= p
		if left < 1e-15 {
			return tail
		}
		tail = append(tail, left)
		p *= mean / float64(k+1)
	}
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// A noise table holds 2048 values: 11 bits of a random word choose a cell, the other 21 choose within it.
const (
	cellBits    = 11
	cutBits     = 32 - cellBits
	noiseValues = 1 << cellBits
)

// noiseTable draws from a law on the integers first .. first + noiseValues - 1 by the alias method (Walker 1977, built as by
// Vose 1991): each cell is cut in two, its own value below the cut and its alias above. A cell packs cut and alias in a word, so a
// table takes 8 KiB. Probabilities are exact to 2⁻³².
type noiseTable struct {
	first uint16
	cells [noiseValues]uint32 // cut << cellBits | alias
}

// newNoiseTable makes the table of first + i with probability p[i], which has noiseValues entries and sums to 1 but for rounding.
// first must not be negative, nor first + noiseValues exceed 65536.
func newNoiseTable(first int, p []float64) *noiseTable {
	t := &noiseTable{first: uint16(first)}
	share := make([]float64, noiseValues) // in cells
	var small, large []int
	total := 0.0
	for _, v := range p {
		total += v
	}
	for i, v := range p {
		share[i] = v / total * noiseValues
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		low, high := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.cells[low] = uint32(share[low]*(1<<cutBits))<<cellBits | uint32(high)
		share[high] -= 1 - share[low]
		if share[high] < 1 {
			large = large[:len(large)-1]
			small = append(small, high)
		}
	}
	for _, i := range append(small, large...) { // whole cells, up to rounding: their own alias
		t.cells[i] = uint32(i)
	}
	return t
}

// draw maps 32 random bits to a value.
func (t *noiseTable) draw(bits uint32) uint16 {
	value := bits >> cutBits
	cell := t.cells[value]
	if bits&(1<<cutBits-1) >= cell>>cellBits {
		value = cell & (noiseValues - 1)
	}
	return t.first + uint16(value)
}
